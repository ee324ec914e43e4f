import { expect, onTestFinished, test, vi } from 'vitest';
import { missingPythonReason, startPython } from '../../support/python.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

describeUnless(missingPythonReason, 'instances in Python that share an inbox', () => {
  const service = useSharedService();

  /** An agent whose inbox is on. */
  async function agentWithInbox() {
    const [writer, agent] = await Promise.all([service.agent(), service.agent()]);
    const inbox = await service.put(agent, '/inbox', {});
    expect(inbox.status).toBe(200);
    return { writer, agent };
  }

  async function write(writer: TestAgent, agent: TestAgent, text: string): Promise<string> {
    const body = { with_handle: agent.handle, initial_message: text };
    const created = await service.post(writer, '/threads', body);
    expect(created.status).toBe(201);
    return created.body.id;
  }

  async function readMessages({ token }: TestAgent, thread: string): Promise<string[]> {
    const { body } = await service.get({ token }, `/threads/${thread}/messages?order=asc`);
    return body.messages.map(({ content }: { content: string }) => content);
  }

  function startInstance(agent: TestAgent, handler: string, options = '') {
    const source = `
import os, threading
from agent_messaging import Client

client = Client(os.environ["URL"], os.environ["TOKEN"])
seen = []

def handle(lease):
    text = lease.event["data"]["content"]
    print(f"{text} {lease.attempt}")
${handler}

client.inbox.work(handle, wait_seconds=1${options})
print("stopped")
`;
    const instance = startPython(source, { URL: service.url, TOKEN: agent.token });
    onTestFinished(async () => {
      instance.kill('SIGKILL');
      await instance.closed;
    });
    return instance;
  }

  const untilPrinted = (instance: ReturnType<typeof startInstance>, ...lines: string[]) =>
    vi.waitFor(() => expect(instance.lines(), instance.errors()).toEqual(lines), { timeout: 40_000 });

  test('the text that a handler returns is the reply, and an item whose handler raises is delivered again', async () => {
    const { writer, agent } = await agentWithInbox();
    const handler = `
    if lease.attempt == 1:
        raise RuntimeError("not yet")
    return {"content": "**done**", "content_type": "markdown"} if text == "second" else "done"
`;
    const instance = startInstance(agent, handler);
    const first = await write(writer, agent, 'first');
    await untilPrinted(instance, 'first 1', 'first 2');
    const second = await write(writer, agent, 'second');
    await untilPrinted(instance, 'first 1', 'first 2', 'second 1', 'second 2');
    await vi.waitFor(
      async () => {
        expect(await readMessages(writer, first)).toEqual(['first', 'done']);
        expect(await readMessages(writer, second)).toEqual(['second', '**done**']);
      },
      { timeout: 20_000 },
    );
    expect(instance.errors()).toContain('RuntimeError: not yet');
  });

  test('a stopped instance finishes its item; the item of a killed one goes to another', async () => {
    const { writer, agent } = await agentWithInbox();
    const handler = `
    if lease.attempt == 1:
        threading.Event().wait(3600 if text == "killed" else 1)
    return "done"
`;
    const stopped = startInstance(agent, handler, ', lease_seconds=5');
    const finished = await write(writer, agent, 'stopped');
    await untilPrinted(stopped, 'stopped 1');
    stopped.kill('SIGTERM');
    expect(await stopped.closed).toBe(0);
    expect(stopped.lines()).toEqual(['stopped 1', 'stopped']);
    expect(await readMessages(writer, finished)).toEqual(['stopped', 'done']);

    const killed = startInstance(agent, handler, ', lease_seconds=5');
    const repeated = await write(writer, agent, 'killed');
    await untilPrinted(killed, 'killed 1');
    killed.kill('SIGKILL');
    const other = startInstance(agent, handler, ', lease_seconds=5');
    await untilPrinted(other, 'killed 2');
    await vi.waitFor(async () => expect(await readMessages(writer, repeated)).toEqual(['killed', 'done']), {
      timeout: 20_000,
    });
  });

  test('a handler learns that its lease has ended, and nothing is written', async () => {
    const { writer, agent } = await agentWithInbox();
    const handler = `
    client.inbox.delete()
    print("lost", lease.lost.wait(30))
    return "too late"
`;
    const instance = startInstance(
      agent,
      handler,
      ', lease_seconds=5, on_error=lambda error, lease: print(type(error).__name__)',
    );
    const thread = await write(writer, agent, 'ended');
    expect(await instance.closed).toBe(1);
    expect(instance.lines()).toEqual(['ended 1', 'lost True', expect.stringMatching(/LeaseLost|NotFound/)]);
    expect(instance.errors()).toContain('INBOX_NOT_FOUND');
    expect(await readMessages(writer, thread)).toEqual(['ended']);
  });
});
