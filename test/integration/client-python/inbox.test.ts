import { expect, test } from 'vitest';
import { missingPythonReason, runPython } from '../../support/python.ts';
import { useSharedService } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { reviewsOf } from '../reviews/setup.ts';

describeUnless(missingPythonReason, 'the inbox from Python', () => {
  const service = useSharedService();

  test('a reply that a person reviews is no error, a lost lease is one, and an error names its approval', async () => {
    const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
    await reviewsOf(service).setPolicy(bob, 'review_all');
    const result = await runPython(
      `
import json, logging, os, threading
import agent_messaging as am

ada, bob = (am.Client(os.environ["URL"], os.environ[name]) for name in ("ADA", "BOB"))
errors, logs, stop = [], [], threading.Event()
logging.getLogger("agent_messaging").addFilter(lambda record: logs.append(record.getMessage()))

def handle(lease):
    text = lease.event["data"]["content"]
    if text == "lost":
        bob.inbox.release_message(lease.id, delay_seconds=3600)
    if text == "end":
        stop.set()
    return f"{text}!"

bob.inbox.set()
thread = ada.threads.create(with_handle=os.environ["BOB_HANDLE"])
for text in ("reviewed", "lost", "end"):
    ada.threads.create(with_handle=os.environ["BOB_HANDLE"], initial_message=text)
bob.inbox.work(handle, wait_seconds=1, stop=stop, on_error=lambda error, lease: errors.append(error.code))
try:
    bob.messages.send(thread["id"], "Hello")
except am.ApprovalRequiredError as error:
    approval = error.approval
print(json.dumps([errors, logs, bob.inbox.get()["in_review"], approval["url"].endswith(approval["id"])]))
`,
      { URL: service.url, ADA: ada.token, BOB: bob.token, BOB_HANDLE: bob.handle },
    );
    expect(result).toEqual([['LEASE_LOST'], [], 2, true]);
  });

  test('an instance that stops while it waits for a handler claims nothing more', async () => {
    const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `
import json, os, threading
import agent_messaging as am
from agent_messaging import inbox

ada, bob = (am.Client(os.environ["URL"], os.environ[name]) for name in ("ADA", "BOB"))
stop, waiting, wait = threading.Event(), threading.Event(), inbox.wait
inbox.wait = lambda *given, **options: (waiting.set(), wait(*given, **options))

def handle(lease):
    waiting.wait()
    stop.set()

bob.inbox.set()
for text in ("one", "two"):
    ada.threads.create(with_handle=os.environ["BOB_HANDLE"], initial_message=text)
bob.inbox.work(handle, concurrency=1, wait_seconds=1, stop=stop)
print(json.dumps([lease["attempt"] for lease in bob.inbox.claim_messages(lease_seconds=60)["leases"]]))
`,
      { URL: service.url, ADA: ada.token, BOB: bob.token, BOB_HANDLE: bob.handle },
    );
    expect(result).toEqual([1]);
  });

  test('an error of a program in the renewal of a lease does not end the renewals', async () => {
    const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `
import json, os, threading
import agent_messaging as am

ada, bob = (am.Client(os.environ["URL"], os.environ[name]) for name in ("ADA", "BOB"))
stop, renewed, errors = threading.Event(), threading.Event(), [KeyError("no token")]
caller = bob.inbox._caller
call = caller.call

def fail_once(operation, *given, **options):
    if operation == "renew_lease" and errors:
        raise errors.pop()
    answer = call(operation, *given, **options)
    if operation == "renew_lease":
        renewed.set()
    return answer

def handle(lease):
    is_renewed.append(renewed.wait(30))
    stop.set()

caller.call, is_renewed = fail_once, []
bob.inbox.set()
ada.threads.create(with_handle=os.environ["BOB_HANDLE"], initial_message="Hello")
bob.inbox.work(handle, lease_seconds=5, wait_seconds=1, stop=stop)
print(json.dumps(is_renewed))
`,
      { URL: service.url, ADA: ada.token, BOB: bob.token, BOB_HANDLE: bob.handle },
    );
    expect(result).toEqual([true]);
  });

  test('a handler whose service is out of reach stops when another instance can get its item', async () => {
    const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `
import json, os, threading
import agent_messaging as am

ada, bob, other = (am.Client(os.environ["URL"], os.environ[name]) for name in ("ADA", "BOB", "BOB"))
stop, caller, is_lost = threading.Event(), bob.inbox._caller, []

def fail(*given, **options):
    raise am.ConnectionError("CONNECTION_FAILED", "no route")

def handle(lease):
    stop.set()
    caller.call = fail
    is_lost.append(lease.lost.wait(30))

bob.inbox.set()
ada.threads.create(with_handle=os.environ["BOB_HANDLE"], initial_message="Hello")
bob.inbox.work(handle, lease_seconds=5, stop=stop)
leases = other.inbox.claim_messages(lease_seconds=5, wait_seconds=20)["leases"]
print(json.dumps([is_lost, [lease["attempt"] for lease in leases]]))
`,
      { URL: service.url, ADA: ada.token, BOB: bob.token, BOB_HANDLE: bob.handle },
    );
    expect(result).toEqual([[true], [2]]);
  });

  test('a renewal that hangs does not delay those of other leases', async () => {
    const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `
import json, os, threading
import agent_messaging as am

ada, bob = (am.Client(os.environ["URL"], os.environ[name]) for name in ("ADA", "BOB"))
stop, is_over, renewed, hanging, is_renewed = threading.Event(), threading.Event(), threading.Event(), [], []
caller = bob.inbox._caller
call = caller.call

def hang_once(operation, input, **options):
    if operation == "renew_lease" and not hanging:
        hanging.append(input["lease_id"])
        is_over.wait()
    answer = call(operation, input, **options)
    if operation == "renew_lease":
        renewed.set()
    return answer

def handle(lease):
    is_renewed.append(renewed.wait(30))
    stop.set()
    is_over.set()

caller.call = hang_once
bob.inbox.set()
for text in ("one", "two"):
    ada.threads.create(with_handle=os.environ["BOB_HANDLE"], initial_message=text)
bob.inbox.work(handle, concurrency=2, lease_seconds=5, wait_seconds=1, stop=stop)
print(json.dumps(is_renewed))
`,
      { URL: service.url, ADA: ada.token, BOB: bob.token, BOB_HANDLE: bob.handle },
    );
    expect(result).toEqual([true, true]);
  });

  test('more handlers than a claim can ask for', async () => {
    const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `
import json, os, threading
import agent_messaging as am

ada, bob = (am.Client(os.environ["URL"], os.environ[name]) for name in ("ADA", "BOB"))
stop = threading.Event()
bob.inbox.set()
thread = ada.threads.create(with_handle=os.environ["BOB_HANDLE"], initial_message="Hello")
bob.inbox.work(lambda lease: stop.set(), concurrency=101, wait_seconds=1, stop=stop)
print(json.dumps(bob.inbox.get()["ready"]))
`,
      { URL: service.url, ADA: ada.token, BOB: bob.token, BOB_HANDLE: bob.handle },
    );
    expect(result).toBe(0);
  });
});
