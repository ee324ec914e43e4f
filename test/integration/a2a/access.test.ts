import { describe, expect, test } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import {
  type A2aMethod,
  a2aAddress,
  bindings,
  createA2aClient,
  reasonOf,
  toA2aMessage,
} from '../../clients/a2a.ts';
import { requestRest } from '../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';

const service = useSharedService();

describe.each(bindings)('over %s', (binding) => {
  const clientOf = ({ token }: TestAgent, { handle }: TestAgent) =>
    createA2aClient(binding, a2aAddress(service.url, handle), token);

  async function pair() {
    const [ann, bob] = [await service.agent(), await service.agent()];
    return { ann, bob, client: clientOf(ann, bob) };
  }
  const now = { configuration: { returnImmediately: true } };

  test('a call is checked for its token, its version, its scope, its input, and then its agent', async () => {
    const { ann, bob, client } = await pair();
    const hidden = await service.agent({ visibility: 'private' });
    const absent = { ...bob, handle: 'absent.agent' };
    for (const agent of [bob, hidden, absent]) {
      const refused = await clientOf(ann, agent).call('GetTask', { id: 'x' }, { token: null });
      expect([refused.status, reasonOf(refused)]).toEqual([401, 'UNAUTHORIZED']);
      expect(refused.headers.get('www-authenticate')).toContain('resource_metadata=');
    }
    for (const version of ['', '0.3', '2.0']) {
      const refused = await client.call('GetTask', { id: 'x' }, { headers: { 'A2A-Version': version } });
      expect(reasonOf(refused)).toBe('VERSION_NOT_SUPPORTED');
    }
    const poor = await service.token(ann.handle, { scopes: ['contacts:read'] });
    for (const agent of [bob, hidden, absent]) {
      const toAgent = clientOf(ann, agent);
      const unscoped = await toAgent.call('SendMessage', {}, { token: poor });
      expect([unscoped.status, reasonOf(unscoped)]).toEqual([403, 'INSUFFICIENT_SCOPE']);
      expect(reasonOf(await toAgent.call('SendMessage', {}))).toBe('VALIDATION_ERROR');
    }
  });

  test('every method answers alike for a hidden agent and for an absent one', async () => {
    const { ann, bob, client } = await pair();
    const { id, contextId } = (await client.call('SendMessage', { message: toA2aMessage('Mine'), ...now }))
      .result.task;
    const hidden = clientOf(ann, await service.agent({ visibility: 'private' }));
    const absent = clientOf(ann, { ...bob, handle: 'absent.agent' });
    const file = { raw: 'aGk=', filename: 'a.txt', mediaType: 'text/plain' };
    const config = { taskId: id, id: 'one' };
    const calls: [A2aMethod, Record<string, unknown>][] = [
      ...[{}, { contextId }, { taskId: id }, { parts: [file], contextId }, { parts: [file], taskId: id }].map(
        (fields): [A2aMethod, Record<string, unknown>] => [
          'SendMessage',
          { message: toA2aMessage('x', fields), ...now },
        ],
      ),
      ['SendStreamingMessage', { message: toA2aMessage('x') }],
      [
        'SendMessage',
        {
          message: toA2aMessage('x'),
          configuration: { taskPushNotificationConfig: { url: 'http://10.0.0.1/updates' } },
        },
      ],
      ...(['GetTask', 'CancelTask', 'SubscribeToTask'] as const).map(
        (name): [A2aMethod, Record<string, unknown>] => [name, { id }],
      ),
      ['ListTasks', { contextId }],
      ['GetExtendedAgentCard', {}],
      ['CreateTaskPushNotificationConfig', { ...config, url: 'https://client.example/updates' }],
      ['GetTaskPushNotificationConfig', config],
      ['ListTaskPushNotificationConfigs', { taskId: id }],
      ['DeleteTaskPushNotificationConfig', config],
    ];
    for (const [method, params] of calls) {
      for (const other of [hidden, absent]) {
        const refused = await other.call(method, params);
        expect([method, refused.status, reasonOf(refused)]).toEqual([method, 404, 'AGENT_NOT_FOUND']);
      }
    }
  });

  test('a client gets its task also after the agent has become private or is retired', async () => {
    const [ann, keeper] = [await service.agent(), await service.agent({ scopes })];
    const profile = { name: 'second', display_name: 'Second', visibility: 'public', inbound_policy: 'open' };
    const { body } = await service.post(keeper, '/agents', profile);
    const path = `${service.api}/agents/${body.id}`;
    const client = clientOf(ann, { ...keeper, handle: body.canonical_handle });
    const { id } = (await client.call('SendMessage', { message: toA2aMessage('Mine'), ...now })).result.task;
    await requestRest('PATCH', path, { token: keeper.token, body: { visibility: 'private' } });
    const stateOf = async () => (await client.call('GetTask', { id })).result.status.state;
    expect(await stateOf()).toBe('TASK_STATE_SUBMITTED');
    expect((await requestRest('DELETE', path, { token: keeper.token })).status).toBe(204);
    expect(await stateOf()).toBe('TASK_STATE_FAILED');
  });

  test('a task exists for its client at the address of its agent only', async () => {
    const { ann, bob, client } = await pair();
    const { id } = (await client.call('SendMessage', { message: toA2aMessage('Mine'), ...now })).result.task;
    const carl = await service.agent();
    const others = [clientOf(carl, bob), clientOf(bob, ann), clientOf(ann, carl)];
    for (const other of others) {
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'] as const) {
        const [foreign, none] = [
          await other.call(method, { id }),
          await other.call(method, { id: 'tsk_none' }),
        ];
        expect([foreign.error.code, reasonOf(foreign)]).toEqual([
          binding === 'JSONRPC' ? -32_001 : 404,
          'TASK_NOT_FOUND',
        ]);
        expect(foreign.error.message).toBe(none.error.message);
      }
      const message = toA2aMessage('Theirs', { taskId: id });
      expect(reasonOf(await other.call('SendMessage', { message, ...now }))).toBe('TASK_NOT_FOUND');
    }
  });
});
