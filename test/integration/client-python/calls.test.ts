import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { missingPythonReason, runPython } from '../../support/python.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { listen } from '../../support/servers/listen.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

describeUnless(missingPythonReason, 'calls from Python', () => {
  const service = useSharedService();

  const envFor = (ada: TestAgent, bob: TestAgent) => ({
    URL: service.url,
    ADA: ada.token,
    BOB: bob.token,
    BOB_HANDLE: bob.handle,
  });
  const clients = `
import json, os
import agent_messaging as am

ada, bob = (am.Client(os.environ["URL"], os.environ[name]) for name in ("ADA", "BOB"))
handle = os.environ["BOB_HANDLE"]
`;

  test('hold a conversation, list over pages, and set fields to null', async () => {
    const [one, other] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `${clients}
thread = ada.threads.create(with_handle=handle, subject="Größe", initial_message="1")
for number in range(2, 6):
    sender = ada if number % 2 else bob
    sender.messages.send(thread["id"], content=str(number), metadata={"number": number})
messages = ada.messages.list(thread["id"], order="asc", limit=2)
first_page = next(messages.pages())
unread = [found["id"] for found in bob.threads.list(unread=True)]
bob.threads.mark_read(thread["id"], 5)
print(json.dumps({
    "contents": [message["content"] for message in messages],
    "page": [len(first_page["messages"]), "next_cursor" in first_page],
    "unread": [unread == [thread["id"]], list(bob.threads.list(unread=True))],
    "kept": ada.threads.update(thread["id"], status="closed")["subject"],
    "removed": ada.threads.update(thread["id"], subject=None)["subject"],
    "found": [item["message"]["content"] for item in ada.messages.search("3")],
    "card": ada.agents.get_card(*handle.split("."))[:3],
    "generic": ada.call("get_thread", {"thread_id": thread["id"]})["status"],
}))
`,
      envFor(one, other),
    );
    expect(result).toMatchObject({
      contents: ['1', '2', '3', '4', '5'],
      page: [2, true],
      unread: [true, []],
      kept: 'Größe',
      removed: null,
      card: '---',
      generic: 'closed',
    });
  });

  test('repeated with the same key return the first answer', async () => {
    const [one, other] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `${clients}
keys = {"with_handle": handle, "initial_message": "once", "idempotency_key": "once-1"}
threads = [ada.threads.create(**keys)["id"] for _ in range(2)]
print(json.dumps([len(set(threads)), len(list(ada.threads.list()))]))
`,
      envFor(one, other),
    );
    expect(result).toEqual([1, 1]);
  });

  test('raise one class for each kind of error, with the message of the service', async () => {
    const [one, other] = await Promise.all([
      service.agent(),
      service.agent({ inbound_policy: 'contacts_only' }),
    ]);
    const weak = await service.token(one.handle, { scopes: ['threads:read'] });
    const result = await runPython(
      `${clients}
url = os.environ["URL"]
thread = bob.threads.create(with_handle=os.environ["ADA_HANDLE"])
bob.threads.update(thread["id"], status="archived")

def failure(call, *args, **options):
    try:
        call(*args, **options)
    except am.AgentMessagingError as error:
        return [type(error).__name__, error.code, error.status, bool(error.request_id), error.details]

nowhere = am.Client("http://127.0.0.1:9", "token", max_retries=0)
print(json.dumps({
    "validation": failure(ada.threads.create, with_handle=handle, subject="x" * 201),
    "local": failure(ada.threads.get, ".."),
    "authentication": failure(am.Client(url, "no").agents.get_me),
    "permission": failure(ada.threads.create, with_handle=handle),
    "scope": failure(am.Client(url, os.environ["WEAK"]).threads.create, with_handle=handle),
    "not_found": failure(ada.threads.get, "thd_01M6F4V0F7R2Z9N3K8Q5W1XYAB"),
    "conflict": failure(bob.threads.update, thread["id"], status="closed"),
    "connection": failure(nowhere.agents.get_me),
}))
`,
      { ...envFor(one, other), WEAK: weak, ADA_HANDLE: one.handle },
    );
    const tooLong = [{ field: 'subject', message: expect.stringContaining('200') }];
    expect(result).toEqual({
      validation: ['ValidationError', 'VALIDATION_ERROR', 400, true, tooLong],
      local: ['ValidationError', 'VALIDATION_ERROR', null, false, []],
      authentication: ['AuthenticationError', 'UNAUTHORIZED', 401, true, []],
      permission: ['PermissionError', 'NOT_CONTACTS', 403, true, []],
      scope: ['PermissionError', 'INSUFFICIENT_SCOPE', 403, true, []],
      not_found: ['NotFoundError', 'THREAD_NOT_FOUND', 404, true, []],
      conflict: ['ConflictError', 'INVALID_TRANSITION', 409, true, []],
      connection: ['ConnectionError', 'CONNECTION_FAILED', null, false, []],
    });
  });

  test('name the reason if a load balancer answers for the token endpoint', async () => {
    const reason = 'The service is unavailable; retry.';
    const balancer = createServer((_request, response) => {
      response.writeHead(503).end(JSON.stringify({ error: { code: 'UNAVAILABLE', message: reason } }));
    });
    const { url, close } = await listen(balancer);
    onTestFinished(close);
    const result = await runPython(
      `import json, os
import agent_messaging as am

try:
    am.Client(os.environ["URL"], am.ClientCredentials("any", "any"), max_retries=0).agents.get_me()
except am.UnavailableError as error:
    print(json.dumps([error.code, str(error)]))
`,
      { URL: url },
    );
    expect(result).toEqual(['UNAVAILABLE', expect.stringContaining(reason)]);
    expect(JSON.stringify(result)).not.toContain('{');
  });

  test('ask an agent, and wait for its reply or for the timeout; again with the same key', async () => {
    const [one, other] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `${clients}
import threading

def answer():
    for event in bob.events(types=["message.created"]):
        if event["data"]["content"] == "Ready?":
            bob.messages.send(event["data"]["thread_id"], content="Yes.")
            return

answering = threading.Thread(target=answer)
answering.start()
reply = ada.ask(handle, "Ready?")
answering.join()
ask_again = lambda timeout: ada.ask(reply["thread_id"], "Are you sure?", timeout=timeout, idempotency_key="sure")
print(json.dumps([reply["content"], ask_again(0), ask_again(1)]))
`,
      envFor(one, other),
    );
    expect(result).toEqual(['Yes.', null, null]);
    const { body } = await service.get(one, '/threads');
    expect(body.threads).toMatchObject([{ last_sequence: 3 }]);
  });
});
