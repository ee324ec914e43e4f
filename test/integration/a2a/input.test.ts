import { describe, expect, test } from 'vitest';
import {
  a2aAddress,
  bindings,
  createA2aClient,
  fieldsOf,
  reasonOf,
  toA2aMessage,
} from '../../clients/a2a.ts';
import { useService } from '../../support/service.ts';

const service = useService({ worker: false });
const now = { configuration: { returnImmediately: true } };
const file = (text: string) => ({ raw: Buffer.from(text).toString('base64'), filename: 'a.txt' });

describe.each(bindings)('over %s', (binding) => {
  async function pair() {
    const [ann, bob] = [await service.agent(), await service.agent()];
    return { ann, bob, client: createA2aClient(binding, a2aAddress(service.url, bob.handle), ann.token) };
  }

  test('null is an absent field, and the names of the proto file are known', async () => {
    const { client } = await pair();
    const { messageId, ...rest } = toA2aMessage('x', { taskId: null, metadata: null, extensions: null });
    const message = {
      ...rest,
      message_id: messageId,
      parts: [{ text: 'x' }, { data: null, mediaType: null }],
    };
    const configuration = { returnImmediately: true, historyLength: '1', accepted_output_modes: null };
    const { result } = await client.call('SendMessage', { message, configuration, metadata: null });
    expect(result.task.history[0]).toMatchObject({ messageId, parts: [{ text: 'x' }, { data: null }] });
  });

  test('an answer that is only JSON is one data part', async () => {
    const { ann, bob, client } = await pair();
    const { result } = await client.call('SendMessage', { message: toA2aMessage('Where?'), ...now });
    const { id, contextId } = result.task;
    const data = { order: 1042, place: 'Hamburg' };
    await service.post(bob, `/tasks/${id}/update`, { state: 'completed', data });
    const { artifacts } = (await client.call('GetTask', { id })).result;
    expect(artifacts[0].parts).toEqual([{ data, mediaType: 'application/json' }]);
    const { body } = await service.get(ann, `/threads/${contextId}/messages`);
    expect(body.messages[0].content).toContain('"place": "Hamburg"');
  });

  test('bad input is refused with its field', async () => {
    const { client } = await pair();
    const cases: [object, string][] = [
      [toA2aMessage('x', { role: 'ROLE_AGENT' }), 'message.role'],
      [toA2aMessage('x', { messageId: undefined }), 'message.messageId'],
      [toA2aMessage('x', { parts: [] }), 'message.parts'],
      [toA2aMessage('x', { parts: [{ text: 'a', url: 'https://a.example' }] }), 'message.parts[0]'],
      [toA2aMessage(' '), 'message.parts'],
      [toA2aMessage('x'.repeat(32_769)), 'message.parts'],
      [toA2aMessage('x', { parts: [{ raw: '%' }] }), 'message.parts[0].raw'],
    ];
    for (const [message, field] of cases) {
      const refused = await client.call('SendMessage', { message, ...now });
      expect(refused.error.code).toBe(binding === 'JSONRPC' ? -32_602 : 400);
      expect(fieldsOf(refused)[0]).toBe(field);
    }
    const media = toA2aMessage('x', { parts: [{ data: {}, mediaType: 'application/xml' }] });
    expect(reasonOf(await client.call('SendMessage', { message: media, ...now }))).toBe(
      'CONTENT_TYPE_NOT_SUPPORTED',
    );
    const tenant = await client.call('GetTask', { id: 'tsk_1', tenant: 'x' });
    expect(reasonOf(tenant)).toBe('VALIDATION_ERROR');
  });

  test('an error of a file names its part of the message', async () => {
    const { client } = await pair();
    const raw = Buffer.from('text').toString('base64');
    const cases: [part: object, field: string, reason: string][] = [
      [{ raw: '' }, 'message.parts[2].raw', 'VALIDATION_ERROR'],
      [{ raw, mediaType: 'x' }, 'message.parts[2].mediaType', 'VALIDATION_ERROR'],
      [{ raw, mediaType: 'image/png' }, 'message.parts[2]', 'CONTENT_TYPE_NOT_SUPPORTED'],
      [{ data: 1, mediaType: 'text/xml' }, 'message.parts[2].mediaType', 'CONTENT_TYPE_NOT_SUPPORTED'],
    ];
    for (const [part, field, reason] of cases) {
      const message = toA2aMessage('', { parts: [{ text: 'See' }, file('good'), part] });
      const refused = await client.call('SendMessage', { message, ...now });
      expect([reasonOf(refused), fieldsOf(refused)]).toEqual([reason, [field]]);
    }
  });

  test('a file that is infected when its message is repeated is named by its part', async () => {
    const { ann, client } = await pair();
    const bad = { ...file('bad'), filename: 'b.txt' };
    const message = toA2aMessage('', { parts: [{ text: 'See' }, file('good'), bad] });
    const elsewhere = { ...message, contextId: 'thd_none' };
    expect(fieldsOf(await client.call('SendMessage', { message: elsewhere, ...now }))).toEqual([
      'message.contextId',
    ]);
    const infect = `update attachments set scan_status = 'infected', scanned_by = 'test' where uploader_id = $1 and filename = 'b.txt'`;
    await service.sql(infect, [ann.id]);
    const refused = await client.call('SendMessage', { message, ...now });
    expect([reasonOf(refused), fieldsOf(refused)]).toEqual(['ATTACHMENT_INFECTED', ['message.parts[2]']]);
  });

  test('a long address, a time without a zone and a config that has no path are refused by what is wrong', async () => {
    const { client } = await pair();
    const parts = [{ url: `https://files.example/${'x'.repeat(2_048)}` }];
    const long = await client.call('SendMessage', { message: toA2aMessage('', { parts }), ...now });
    expect(long.error.message).toBe('message.parts[0].url: must have at most 2,048 characters');
    const local = await client.call('ListTasks', { statusTimestampAfter: '2026-11-26T09:00:00' });
    expect(local.error.message).toMatch(/^statusTimestampAfter: must be a time with a zone, such as /);
    const config = { taskId: 'tsk_1', id: '..', url: 'https://files.example' };
    expect(fieldsOf(await client.call('CreateTaskPushNotificationConfig', config))).toEqual(['id']);
  });

  test('an enum is a name or a number, and an unknown one is refused', async () => {
    const { client } = await pair();
    const send = (role: unknown) =>
      client.call('SendMessage', { message: toA2aMessage('x', { role }), ...now });
    expect((await send(1)).result.task.history[0].role).toBe('ROLE_USER');
    for (const role of [0, 2, 3, -1, 1.5, 'USER', '', undefined])
      expect(fieldsOf(await send(role)), String(role)).toEqual(['message.role']);
    const count = async (status: unknown) => (await client.call('ListTasks', { status })).result.totalSize;
    expect([await count(0), await count(1), await count(8)]).toEqual([1, 1, 0]);
    for (const status of [9, -1, 'SUBMITTED']) {
      const refused = await client.call('ListTasks', { status });
      expect(fieldsOf(refused)).toEqual(['status']);
      expect(refused.error.message).toMatch(/^status: must be one of TASK_STATE_SUBMITTED, /);
    }
  });

  test('a page of the list has 1 to 100 tasks, and at most 10 with messages', async () => {
    const { client } = await pair();
    for (const pageSize of [0, -1, 101, 1.5, 'x', 2 ** 40])
      expect(fieldsOf(await client.call('ListTasks', { pageSize }))).toEqual(['pageSize']);
    await Promise.all(
      Array.from({ length: 11 }, () => client.call('SendMessage', { message: toA2aMessage('x'), ...now })),
    );
    const sizeOf = async (params: Record<string, unknown>) => {
      const { tasks, pageSize, totalSize } = (await client.call('ListTasks', params)).result;
      return [tasks.length, pageSize, totalSize];
    };
    expect(await sizeOf({})).toEqual([11, 50, 11]);
    expect(await sizeOf({ pageSize: '1e2' })).toEqual([11, 100, 11]);
    expect(await sizeOf({ pageSize: 1 })).toEqual([1, 1, 11]);
    const other = await client.call('ListTasks', { pageToken: 'none' });
    expect([reasonOf(other), fieldsOf(other)]).toEqual(['INVALID_CURSOR', ['pageToken']]);
    for (const detail of [{ historyLength: 1 }, { include_artifacts: true }])
      expect(await sizeOf({ pageSize: 100, ...detail })).toEqual([10, 10, 11]);
  });
});
