import { describe, expect, test } from 'vitest';
import { a2aAddress, bindings, createA2aClient, reasonOf, toA2aMessage } from '../../clients/a2a.ts';
import { startService, type TestAgent, useService } from '../../support/service.ts';

const service = useService();

describe.each(bindings)('over %s', (binding) => {
  const clientOf = ({ token }: TestAgent, { handle }: TestAgent, url = service.url) =>
    createA2aClient(binding, a2aAddress(url, handle), token);

  const update = (agent: TestAgent, id: string, report: object) =>
    service.post(agent, `/tasks/${id}/update`, report);

  /** What an event tells, in short. */
  // oxlint-disable-next-line typescript/no-explicit-any
  function outline({ id, event }: { id: string | undefined; event: any }): string {
    if (event.task) return `${id} task ${event.task.status.state.slice(11)}`;
    if (event.artifactUpdate) return `${id} artifact ${event.artifactUpdate.artifact.parts[0].text}`;
    const { state, message } = event.statusUpdate.status;
    return `${id} ${state.slice(11)}${message ? ` ${message.parts[0].text}` : ''}`;
  }

  type Events = AsyncIterable<Parameters<typeof outline>[0]>;

  async function readAll(stream: Events): Promise<string[]> {
    const outlines: string[] = [];
    for await (const event of stream) outlines.push(outline(event));
    return outlines;
  }

  async function readFirst(stream: Events, count: number): Promise<string[]> {
    const outlines: string[] = [];
    for await (const event of stream) if (outlines.push(outline(event)) === count) break;
    return outlines;
  }

  async function open() {
    const [ann, bob] = [await service.agent(), await service.agent()];
    const client = clientOf(ann, bob);
    const message = toA2aMessage('Book a flight.');
    const { result } = await client.call('SendMessage', {
      message,
      configuration: { returnImmediately: true },
    });
    return {
      ann,
      bob,
      client,
      message,
      id: result.task.id as string,
      contextId: result.task.contextId as string,
    };
  }

  test('a stream has the task and then its updates, and ends with the task', async () => {
    const [ann, bob] = [await service.agent(), await service.agent()];
    const stream = await clientOf(ann, bob).stream('SendStreamingMessage', {
      message: toA2aMessage('Hello'),
    });
    const first = await stream.next();
    expect(outline(first.value as never)).toBe('1 task SUBMITTED');
    const { id, contextId } = (first.value as { event: { task: { id: string; contextId: string } } }).event
      .task;
    await update(bob, id, { state: 'working', message: 'Looking.' });
    await service.post(bob, `/threads/${contextId}/messages`, { content: 'Booked.' });
    expect(await readAll(stream)).toEqual(['2 WORKING Looking.', '3 artifact Booked.', '4 COMPLETED']);
  });

  test('a stream ends when the task needs input, and a later one stays open', async () => {
    const { bob, client, id } = await open();
    const stream = await client.stream('SubscribeToTask', { id });
    await update(bob, id, { state: 'input_required', message: 'Which day?' });
    expect(await readAll(stream)).toEqual(['1 task SUBMITTED', '2 INPUT_REQUIRED Which day?']);
    const waiting = await client.stream('SubscribeToTask', { id });
    const answered = await client.stream('SendStreamingMessage', {
      message: toA2aMessage('Friday', { taskId: id }),
    });
    await update(bob, id, { state: 'auth_required', message: 'Sign in.' });
    await update(bob, id, { state: 'failed', message: 'No flight.' });
    expect(await readAll(waiting)).toEqual([
      '2 task INPUT_REQUIRED',
      '3 WORKING',
      '4 AUTH_REQUIRED Sign in.',
      '5 FAILED No flight.',
    ]);
    expect(await readAll(answered)).toEqual([
      '3 task WORKING',
      '4 AUTH_REQUIRED Sign in.',
      '5 FAILED No flight.',
    ]);
  });

  test('a stream is resumed after its last event, and a repeated message continues with its task', async () => {
    const { bob, client, message, id } = await open();
    for (const text of ['One', 'Two', 'Three']) await update(bob, id, { state: 'working', message: text });
    const resume = (last: string) =>
      client.stream('SubscribeToTask', { id }, { headers: { 'Last-Event-ID': last } });
    expect(await readFirst(await resume('2'), 3)).toEqual([
      '2 task WORKING',
      '3 WORKING Two',
      '4 WORKING Three',
    ]);
    const again = await client.stream('SendStreamingMessage', { message });
    await update(bob, id, { state: 'rejected' });
    expect(await readAll(again)).toEqual(['4 task WORKING', '5 REJECTED']);
    expect(await readAll(await client.stream('SendStreamingMessage', { message }))).toEqual([
      '5 task REJECTED',
    ]);
    const ended = await client.call('SubscribeToTask', { id });
    expect(reasonOf(ended)).toBe('UNSUPPORTED_OPERATION');
  });

  test('a task shows its last 100 artifacts, and a stream has the earlier ones too', async () => {
    const { bob, client, id } = await open();
    const report = (part: number) =>
      update(bob, id, { state: 'working', message: `Part ${part}`, artifact: true });
    for (let part = 0; part < 101; part += 10)
      await Promise.all(Array.from({ length: Math.min(10, 101 - part) }, (_, index) => report(part + index)));
    const stream = await client.stream('SubscribeToTask', { id }, { headers: { 'Last-Event-ID': '1' } });
    const streamed = (await readFirst(stream, 1 + 2 * 101)).flatMap(
      (outlined) => / artifact (.*)/.exec(outlined)?.[1] ?? [],
    );
    expect(new Set(streamed).size).toBe(101);
    const { artifacts, history } = (await client.call('GetTask', { id })).result;
    expect(artifacts.map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text)).toEqual(
      streamed.slice(1),
    );
    expect(history).toHaveLength(100);
  });

  test('100 streams at two processes, cut while the task changes, lose and repeat nothing', async () => {
    const { ann, bob, id } = await open();
    const settings = { env: service.env, release: () => Promise.resolve() };
    const second = await startService({ settings, worker: false, env: { PORT: '0' } });
    try {
      const clients = [service.url, second.url].map((url) => clientOf(ann, bob, url));
      const seen: string[] = [];
      const subscribe = async (round: number) => {
        const last = seen.at(-1)?.split(' ')[0] ?? '1';
        const options = { headers: { 'Last-Event-ID': last } };
        const stream = await clients[round % 2]?.stream('SubscribeToTask', { id }, options);
        expect((await stream?.next())?.value).toMatchObject({ id: last, event: { task: { id } } });
        return stream ?? expect.fail('no client');
      };
      const cutting = { isOver: false };
      const writing = (async () => {
        let step = 0;
        for (; !cutting.isOver; step += 1)
          await update(bob, id, { state: 'working', message: `Step ${step}` });
        return step;
      })();
      for (let round = 0; round < 100; round += 1) {
        const stream = await subscribe(round);
        if (round % 4 === 0) await stream.return();
        else seen.push(...(await readFirst(stream, round % 4)));
      }
      cutting.isOver = true;
      const steps = await writing;
      const rest = await subscribe(0);
      await update(bob, id, { state: 'completed' });
      seen.push(...(await readAll(rest)));
      const all = Array.from({ length: steps }, (_, step) => `${step + 2} WORKING Step ${step}`);
      expect(seen).toEqual([...all, `${steps + 2} COMPLETED`]);
    } finally {
      await second.stop();
    }
  });

  test('a stream shows generations and delivery to a client that names the extension', async () => {
    const { ann, bob, client, id } = await open();
    const mailbox = 'urn:agent-messaging-service:a2a:mailbox:1';
    const options = { headers: { 'A2A-Extensions': `https://other.example, ${mailbox}` } };
    const { result } = await client.call('GetTask', { id }, options);
    expect(result.metadata[mailbox]).toMatchObject({ generation: 1, delivery: 'stored' });
    expect((await client.call('GetTask', { id })).result.metadata).toBeUndefined();
    const stream = await client.stream('SubscribeToTask', { id }, options);
    await service.post(ann, `/tasks/${id}/cancel`);
    const events = [];
    for await (const { event } of stream) events.push(event);
    expect(events[1].statusUpdate.metadata[mailbox].generation).toBe(2);
    expect(bob.handle).not.toBe(ann.handle);
  });
});
