import { describe, expect, test } from 'vitest';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { useService } from '../../support/service.ts';
import {
  connectModel,
  contentsOf,
  type ModelCall,
  readToEnd,
  startAnswerer,
} from '../../acceptance/first-steps/model.ts';

const service = useService();

/** A model, and an agent that answers each message twice before the model does anything else. */
async function meet() {
  const [me, fast] = await Promise.all([service.agent(), service.agent()]);
  const answerer = await startAnswerer(service, fast, (content) => [`yes, ${content}`, `also, ${content}`]);
  const token = await service.token(me.handle, { audience: 'mcp' });
  const model = await connectModel(service, token);
  const { id } = await model.use('create_thread', { with_handle: fast.handle });
  return {
    token,
    model,
    thread_id: String(id),
    fast: fast.handle,
    /** Resolves when both answers are stored. */
    isAnswered: (content: string) => expect.poll(answerer.answered).toContain(content),
  };
}

const answersTo = (content: string): string[] => [`yes, ${content}`, `also, ${content}`];

describe('an answer that arrives before the model waits is neither missed nor repeated', () => {
  test('with wait_for_events, which continues where the session is', async () => {
    const { model, thread_id, isAnswered } = await meet();
    for (const content of ['one', 'two', 'three']) {
      await model.use('send_message', { thread_id, content });
      await isAnswered(content);
      expect(contentsOf(await model.use('wait_for_events', { thread_id }))).toEqual(answersTo(content));
    }
    expect(await readToEnd(model)).toEqual([]);
  });

  test.each<[string, (sent: ModelCall) => unknown]>([
    ['in the visible result', ({ value }) => value['cursor']],
    ['in _meta, for a model that sees it', ({ meta }) => meta['cursor']],
  ])('with wait_for_events and the cursor %s', async (_place, cursorOf) => {
    const { model, thread_id, isAnswered } = await meet();
    const types = ['message.created'];
    let cursor: unknown;
    for (const content of ['one', 'two']) {
      const sent = await model.call('send_message', { thread_id, content });
      await isAnswered(content);
      const page = await model.call('wait_for_events', { cursor: cursorOf(sent), types });
      expect(contentsOf(page.value)).toEqual(answersTo(content));
      cursor = cursorOf(page);
    }
    expect(contentsOf(await model.use('wait_for_events', { cursor, wait_seconds: 0 }))).toEqual([]);
  });

  test('without a session, with the cursor of create_thread and of each wait', async () => {
    const { token, fast, isAnswered } = await meet();
    const call = async (name: string, args: object) =>
      (await callToolRaw(service.url, token, name, args)).value;
    const opened = await call('create_thread', { with_handle: fast, initial_message: 'first' });
    const types = ['message.created'];
    await isAnswered('first');
    const page = await call('wait_for_events', { cursor: opened['cursor'], types });
    expect(contentsOf(page)).toEqual(answersTo('first'));
    await call('send_message', { thread_id: opened['id'], content: 'second' });
    await isAnswered('second');
    const next = await call('wait_for_events', { cursor: page['cursor'], types });
    expect(contentsOf(next)).toEqual(answersTo('second'));
  });

  test('with ask, which returns the first answer; wait_for_events returns the other one', async () => {
    const { model, thread_id, fast, isAnswered } = await meet();
    expect(await readToEnd(model)).toEqual([]);
    const first = await model.call('ask', { thread_id, content: 'one' });
    expect(first.value).toMatchObject({ reply: { content: 'yes, one' }, after_sequence: 1 });
    expect(first.meta).toEqual({
      cursor: first.value['cursor'],
      pending_events: first.value['pending_events'],
    });
    await isAnswered('one');
    expect(await readToEnd(model)).toEqual(['also, one']);
    const opened = await model.use('ask', { with_handle: fast, content: 'elsewhere' });
    expect(opened).toMatchObject({ reply: { content: 'yes, elsewhere' } });
    await isAnswered('elsewhere');
    expect(await readToEnd(model)).toEqual(['also, elsewhere']);
  });

  test('with ask that does not wait, and wait_for_reply', async () => {
    const { model, thread_id, isAnswered } = await meet();
    // The answer may be faster than the wait of no time.
    const { after_sequence } = await model.use('ask', { thread_id, content: 'one', wait_seconds: 0 });
    await isAnswered('one');
    const first = await model.use('wait_for_reply', { thread_id, after_sequence });
    expect(first).toMatchObject({ reply: { content: 'yes, one' } });
    const { sequence } = Object(first['reply']);
    expect(await model.use('wait_for_reply', { thread_id, after_sequence: sequence })).toMatchObject({
      reply: { content: 'also, one' },
    });
    expect(await readToEnd(model)).toEqual([]);
  });

  test('with send_message and wait_for_reply', async () => {
    const { model, thread_id, isAnswered } = await meet();
    const { sequence } = await model.use('send_message', { thread_id, content: 'one' });
    await isAnswered('one');
    const first = await model.use('wait_for_reply', { thread_id, after_sequence: sequence });
    expect(first).toMatchObject({ reply: { content: 'yes, one' } });
    expect(await readToEnd(model)).toEqual(['also, one']);
  });
});
