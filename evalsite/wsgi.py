"""The wsgi entry point of the site."""

import os

from django.core.wsgi import get_wsgi_application

from evalsite.unread import reading_what_is_left

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

application = reading_what_is_left(get_wsgi_application())
