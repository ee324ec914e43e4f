import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { missingPythonReason, runPython } from '../../support/python.ts';
import { useSharedService } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { page, refuse, startStubService } from './stub-service.ts';
import { createFolder } from '../../support/use.ts';

describeUnless(missingPythonReason, 'events in Python', () => {
  const service = useSharedService();

  /** A thread with two messages to a new agent. */
  async function agentWithMessages() {
    const [writer, agent] = await Promise.all([service.agent(), service.agent()]);
    const { body } = await service.post(writer, '/threads', {
      with_handle: agent.handle,
      initial_message: 'one',
    });
    await service.post(writer, `/threads/${body.id}/messages`, { content: 'two' });
    return agent;
  }

  test('an event whose loop body fails is delivered again; one whose body has finished is not', async () => {
    const folder = await createFolder();
    const { token } = await agentWithMessages();
    const source = `
import json, os
from agent_messaging import Client, FileCursor

client = Client(os.environ["URL"] + "/v1", lambda: os.environ["TOKEN"])
cursor = FileCursor(os.environ["CURSOR"])
handled = []
try:
    for event in client.events(cursor, types=["message.created"]):
        handled.append(event["data"]["content"])
        if handled == ["one", "two"]:
            raise RuntimeError
except RuntimeError:
    pass
events = client.events(cursor, types=["message.created"])
for event in events:
    handled.append(event["data"]["content"])
    events.done()
    break
print(json.dumps([handled, cursor.load() == event["cursor"]]))
`;
    const env = { URL: service.url, TOKEN: token, CURSOR: join(folder, 'cursor') };
    expect(await runPython(source, env)).toEqual([['one', 'two', 'two'], true]);
    expect(await readFile(env.CURSOR, 'utf8')).not.toBe('');
  });

  test('a stream that starts at the latest event misses nothing when its first wait is cut', async () => {
    const stub = await startStubService(page([]), 'cut', 'cut', page(['message.created']));
    const source = `
import json, os
from agent_messaging import Client

waits = []
events = Client(os.environ["URL"], "token").events(start="latest", on_error=lambda error, seconds: waits.append(error.code))
print(json.dumps([next(events)["id"], waits]))
`;
    expect(await runPython(source, { URL: stub.url })).toEqual(['evt_1', ['CONNECTION_FAILED']]);
    expect(stub.requests.map(({ url }) => url)).toEqual([
      '/v1/events?cursor=latest&limit=100&wait=0',
      '/v1/events?cursor=c0&limit=100&wait=25', // on the open connection, so it is repeated at once
      '/v1/events?cursor=c0&limit=100&wait=25',
      '/v1/events?cursor=c0&limit=100&wait=25',
    ]);
  });

  test('a gap must be handled: by a callback, or as an error after which the stream continues', async () => {
    const source = (on_gap: string) => `
import json, os
from agent_messaging import Client, GapError

seen = []
events = Client(os.environ["URL"], "token").events(${on_gap})
while len(seen) < 3:
    try:
        for event in events:
            seen.append(event["type"])
            if len(seen) == 3:
                break
    except GapError as error:
        seen.append(error.code)
print(json.dumps(seen))
`;
    const types = ['message.created', 'an.event.of.the.future'];
    const raising = await startStubService(page(types, { gap: true }));
    expect(await runPython(source(''), { URL: raising.url })).toEqual(['GAP', ...types]);
    const calling = await startStubService(page(types, { gap: true }));
    expect(await runPython(source('on_gap=lambda: seen.append("gap")'), { URL: calling.url })).toEqual([
      'gap',
      ...types,
    ]);
  });

  test('a permanent error ends the stream; close ends it before the next event', async () => {
    const stub = await startStubService(refuse(400, 'INVALID_CURSOR'), page(['one', 'two']));
    const source = `
import json, os
from agent_messaging import Client, MemoryCursor, ValidationError

client = Client(os.environ["URL"], "token")
seen = []
try:
    next(client.events(MemoryCursor("of another agent")))
except ValidationError as error:
    seen.append(error.code)
events = client.events()
for event in events:
    seen.append(event["type"])
    events.close()
print(json.dumps(seen))
`;
    expect(await runPython(source, { URL: stub.url })).toEqual(['INVALID_CURSOR', 'one']);
  });
});
