// Write evalrunner/collation.txt: the order of characters in the ICU root collation, asked from Node's Intl.Collator.
//
//     node tools/collation.mjs > evalrunner/collation.txt
//
// The collator only compares, so the order is found by sorting all characters that are their own canonical
// decomposition (and the few that are letters of their own although they have one) by their weights. Four sections, all numbers in hexadecimal:
//
//     ignorable   ranges of characters that never count
//     marks       characters without primary weight by secondary weight; "=" joins equal ones
//     letters     one group a line: characters of one primary weight by tertiary weight ("=" joins equal ones); ";"
//                 goes on to the next secondary weight, behind all marks; "first-last" stands for that many groups
//                 of one character each
//     sequences   characters that sort as a sequence of others: "character:item,item"; the item fffe stands for a
//                 secondary weight of their own, behind all marks
//
// Left to the reader: Hangul syllables (their jamo), compatibility characters that sort as their decomposition, and
// ideographs beyond the basic plane, private use and unassigned characters (by code point, behind all others).

const collator = (sensitivity) => new Intl.Collator("en", { sensitivity }).compare;
const [byBase, byAccent, byVariant] = ["base", "accent", "variant"].map(collator);
const HIGHEST = "\uffff"; // sorts behind every other character
const MOST_MARKED = 8; // every mark put in makes the text longer: look at its beginning only
const hex = (text) => [...text].map((c) => c.codePointAt(0).toString(16)).join(",");

function* candidates() {
  for (let code = 0; code < 0x110000; code++) {
    const c = String.fromCodePoint(code);
    const isLeftOut = /[\p{Cn}\p{Co}\p{Cs}\uac00-\ud7a3]/u.test(c) || (code > 0xffff && /\p{Unified_Ideograph}/u.test(c));
    if (!isLeftOut && (c.normalize("NFD") === c || isLetterOfItsOwn(c))) yield c;
  }
}

/** Tell whether a letter with marks is more than the letter and the marks, as the Cyrillic short i is. */
function isLetterOfItsOwn(c) {
  const [letter, ...rest] = [...c.normalize("NFD")];
  return byBase(rest.join(""), "") === 0 && byBase(letter, c) !== 0;
}

function grouped(sorted, compare) {
  const groups = [];
  for (const c of sorted) {
    if (groups.length && compare(groups.at(-1)[0], c) === 0) groups.at(-1).push(c);
    else groups.push([c]);
  }
  return groups;
}

/** Find the last item that does not sort behind the wanted place, or undefined. */
function lastNotAfter(items, isAfter) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(items[middle])) high = middle;
    else low = middle + 1;
  }
  return items[low - 1];
}

const ignorable = [];
const marks = [];
const letters = [];
for (const c of candidates()) {
  if (byVariant(c, "") === 0) ignorable.push(c);
  else if (byBase(c, "") === 0) marks.push(c);
  else letters.push(c);
}
const markGroups = grouped(marks.sort(byVariant), byAccent);
const markHeads = markGroups.map((group) => group[0]);

// A character whose weights begin with those of another one is a sequence, not a letter of its own.
const heads = [];
const letterGroups = [];
const sequences = [];
for (const group of grouped(letters.sort((a, b) => byBase(a, b) || byVariant(a, b)), byBase)) {
  if (heads.length && byBase(group[0], heads.at(-1) + HIGHEST) < 0) sequences.push(...group);
  else {
    heads.push(group[0]);
    const isMarked = (c) => markHeads.some((mark) => byAccent(group[0] + mark, c) === 0);
    const marked = group.filter((c) => byAccent(c, group[0]) !== 0 && isMarked(c));
    sequences.push(...marked);
    letterGroups.push(group.filter((c) => !marked.includes(c)));
  }
}

/** Spell a character by heads with the same primary weights. */
function spell(c) {
  let spelled = "";
  while (byBase(spelled, c) < 0 && spelled.length < 40) {
    const next = lastNotAfter(heads, (head) => byBase(spelled + head, c) > 0);
    if (next === undefined) break;
    spelled += next;
  }
  return spelled;
}

/** Put in marks until the secondary weights agree too; only what is found with marks behind single letters counts. */
function accented(spelled, c) {
  let best = [...spelled];
  for (let place = 0; place < best.length && place < MOST_MARKED && byAccent(best.join(""), c) !== 0; place++) {
    const before = best.slice(0, place + 1).join("");
    const after = best.slice(place + 1).join("");
    const mark = lastNotAfter(markHeads, (m) => byAccent(before + m + after, c) > 0);
    if (mark !== undefined) best = [...before, mark, ...after];
  }
  return best.join("");
}

/** Choose capital letters where that brings the tertiary weights nearer. */
function cased(spelled, c) {
  const capital = [...spelled].map((x) => (x.toUpperCase().length === x.length ? x.toUpperCase() : x)).join("");
  return byBase(capital, spelled) === 0 && byVariant(capital, c) <= 0 ? capital : spelled;
}

/** Spell a character whose secondary weights no marks can give, such as a ligature. */
function special(bare, c) {
  const [first, ...rest] = [...(/\p{Lu}/u.test(c) ? bare.toUpperCase() : bare.toLowerCase())];
  return [first, "\ufffe", ...rest].join("");
}

const sequenceLines = [];
for (const c of sequences) {
  if (byAccent(c.normalize("NFKD"), c) === 0 && c.normalize("NFKD") !== c) continue;
  const bare = spell(c);
  const marked = accented(bare, c);
  const spelled = byAccent(marked, c) === 0 ? cased(marked, c) : special(bare, c);
  if ([...spelled].length < MOST_MARKED) sequenceLines.push(`${hex(c)}:${hex(spelled)}`);
}

function written(group) {
  const tertiary = (same) => grouped(same, byVariant).map((equal) => equal.map(hex).join("=")).join(" ");
  return grouped(group, byAccent).map(tertiary).join(";");
}

/** Join neighbours that follow each other in code as well. */
function ranges(lines) {
  const joined = [];
  for (const line of lines) {
    const last = joined.at(-1);
    const code = /^[0-9a-f]+$/.test(line) ? parseInt(line, 16) : NaN;
    if (last && last.end + 1 === code) last.end = code;
    else joined.push({ text: line, start: code, end: code });
  }
  return joined.map(({ text, start, end }) => (end > start ? `${start.toString(16)}-${end.toString(16)}` : text));
}

console.log(`# ICU ${process.versions.icu}, Unicode ${process.versions.unicode}; written by tools/collation.mjs`);
console.log(["ignorable", ...ranges(ignorable.map(hex))].join("\n"));
console.log(["marks", ...ranges(markGroups.map(written))].join("\n"));
console.log(["letters", ...ranges(letterGroups.map(written))].join("\n"));
console.log(["sequences", ...sequenceLines].join("\n"));
