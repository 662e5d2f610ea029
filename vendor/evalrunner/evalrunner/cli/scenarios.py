"""``evalrunner scenarios run|list|compare``, also installed as the program ``kairox-eval`` (SPEC 12).

Its flags, texts and exit statuses are those of the original program, so that an existing script runs unchanged; that is
why it reads its arguments itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from evalrunner.cli import prepare_output, run_guarded, scenario_run
from evalrunner.cli.scenario_flags import RUN, SUBCOMMANDS, HelpAsked, Values, parse_flags
from evalrunner.cli.scenario_run import load_scenarios
from evalrunner.cli.streams import result_stream
from evalrunner.harness.comparison import compare_reports, parse_report
from evalrunner.harness.errors import HarnessSetupError
from evalrunner.harness.files import os_text, read_text, write_text
from evalrunner.harness.rows import encode_pretty

SUMMARY: Final = "run scenario files against an agent, list them, compare their reports"
USAGE_EXIT: Final = 1
PROGRAM: Final = "kairox-eval"
DONE: Final = 0
REGRESSED: Final = 3


def kairox_eval() -> int:
    """Be the program ``kairox-eval``."""
    prepare_output()
    return run_guarded(lambda: execute_raw(sys.argv[1:], PROGRAM), PROGRAM, USAGE_EXIT)


def execute_raw(arguments: Sequence[str], program: str) -> int:
    """Carry out a subcommand and give the exit status; whatever keeps it from that is told on standard error."""
    _write_as_utf8()
    try:
        return _dispatch(arguments, program)
    except HelpAsked as help:
        print(help)
        return DONE
    except HarnessSetupError as error:
        return _refuse(program, str(error))
    except UnicodeDecodeError:
        return _refuse(program, "io error: stream did not contain valid UTF-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        return _refuse(program, f"io error: {os_text(error)}")


def _dispatch(arguments: Sequence[str], program: str) -> int:
    """The first argument decides; the word ``run`` may be left out."""
    name = arguments[0] if arguments else ""
    if name in ("-h", "--help"):
        raise HelpAsked("\n\n".join(subcommand.help(program) for subcommand in SUBCOMMANDS.values()))
    is_named = name in SUBCOMMANDS
    subcommand = SUBCOMMANDS[name] if is_named else RUN
    values = parse_flags(arguments[1:] if is_named else arguments, subcommand, program)
    return _EXECUTE[subcommand.name](values, program)


def _refuse(program: str, text: str) -> int:
    print(f"{program}: {text}", file=sys.stderr)
    return USAGE_EXIT


def _write_as_utf8() -> None:
    """Ids and results are written as they are, whatever the locale."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")


def _list(values: Values, program: str) -> int:
    ids = [scenario.id for scenario in load_scenarios(values, program)]
    text = f"{encode_pretty(ids)}\n" if values["format"] == "json" else "".join(f"{id}\n" for id in ids)
    result_stream().write(text)
    return DONE


def _compare(values: Values, program: str) -> int:
    """Both files are read before either is parsed."""
    baseline, candidate = [read_text(Path(values[side])) for side in ("baseline", "candidate")]
    comparison = compare_reports(parse_report(baseline), parse_report(candidate))
    if values["output"] is not None:
        write_text(Path(values["output"]), encode_pretty(comparison))
    print(encode_pretty(comparison), file=result_stream())
    return REGRESSED if comparison["regressions"] else DONE


_EXECUTE: Final[Mapping[str, Callable[[Values, str], int]]] = {
    "run": scenario_run.execute,
    "list": _list,
    "compare": _compare,
}
