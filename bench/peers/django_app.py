"""django-eventstream as its README sets it up: one channel, no storage, no Redis. The view hands the request's body on."""

import json

import django
from django.conf import settings
from django.core.asgi import get_asgi_application

settings.configure(
    SECRET_KEY="bench",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django_eventstream"],
    LOGGING_CONFIG=None,
)
django.setup()

from django.http import HttpResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from django_eventstream import send_event  # noqa: E402


def publish(request):
    send_event("bench", "scan.progress", json.loads(request.body))
    return HttpResponse()


urlpatterns = [
    path("events/", include("django_eventstream.urls"), {"channels": ["bench"]}),
    path("publish", publish),
]

application = get_asgi_application()
