import { expect, onTestFinished, test } from 'vitest';
import { followFeed } from '../../clients/feed.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { askStateless } from '../../clients/mcp/stateless-request.ts';
import { maskResponse } from '../../support/mask-response.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { call, connectCaller } from '../ws/caller.ts';
import { tasksOf } from './setup.ts';

const service = useSharedService();
const { pair, openTask, report } = tasksOf(service);

const absent = 'tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** Every call that names a task, with the input of the call besides its id. */
const calls = {
  get_task: {},
  update_task: { state: 'working', message: 'Let me see.' },
  cancel_task: {},
  wait_for_reply: {},
};

/** A task in a group, and agents that are no side of it. */
async function createWorld() {
  const [client, agent] = await pair();
  const [member, stranger] = await pair();
  const sibling = (other: TestAgent) =>
    service.register({
      handle: other.handle.replace(/agent$/, 'sibling'),
      visibility: 'public',
      inbound_policy: 'open',
    });
  const others = {
    stranger,
    'member of the group': member,
    'agent of the owner of the client': await sibling(client),
    'agent of the owner of the asked agent': await sibling(agent),
  };
  const thread_id = await service.thread(client, agent, member);
  const feed = await followFeed(service.api, member.token);
  const task = await openTask(client, agent, { thread_id, due_in_seconds: 600 });
  return { client, agent, member, others, thread_id, task, feed };
}

test('a task of others looks like an absent one over REST, WebSocket calls and both revisions of MCP', async () => {
  const { others, task, thread_id } = await createWorld();
  for (const [name, other] of Object.entries(others)) {
    const caller = await connectCaller(other, service);
    onTestFinished(() => caller.socket.close());
    const token = await service.token(other.handle, { audience: 'mcp' });
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const answersTo = async (id: string) => {
      const rest = await Promise.all([
        service.get(other, `/tasks/${id}`),
        service.get(other, `/tasks/${id}?after_generation=1&wait_seconds=20`),
        service.get(other, `/threads/${thread_id}/reply?task_id=${id}`),
        report(other, id, calls.update_task),
        service.post(other, `/tasks/${id}/cancel`),
      ]);
      const answers = rest.map((answer) => maskResponse(answer));
      for (const [operation, input] of Object.entries(calls)) {
        const task_id = { task_id: id, ...input };
        const { status, error } = await call(caller, operation, task_id, null);
        const { value, isError } = await callToolRaw(service.url, token, operation, task_id);
        answers.push(JSON.stringify([status, { ...error, request_id: '' }]));
        answers.push(JSON.stringify([isError, value]));
      }
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const params = { taskId: id, inputResponses: {} };
        answers.push(
          JSON.stringify(await askStateless(service.url, token, { method, params, capabilities })),
        );
      }
      return answers.map((answer) => answer.replaceAll(/"request_id":"[^"]*"/g, '').replaceAll(id, '<task>'));
    };
    const answers = await answersTo(task.id);
    expect(answers, name).toEqual(await answersTo(absent));
    for (const answer of answers) expect(answer, name).toMatch(/TASK_NOT_FOUND|Unknown task/);
  }
});

test('a member of the group sees the question, and nothing of its task', async () => {
  const { client, agent, member, thread_id, task, feed } = await createWorld();
  await report(agent, task.id, { state: 'working' });
  await report(agent, task.id, { state: 'input_required', message: 'Which order?' });
  const messages = await service.get(member, `/threads/${thread_id}/messages`);
  expect(messages.body.messages).toHaveLength(2);
  const shown = [
    JSON.stringify(await feed()),
    messages.text,
    (await service.get(member, `/threads/${thread_id}`)).text,
    (await service.get(member, '/tasks')).text,
    (await service.get(member, `/tasks?thread_id=${thread_id}`)).text,
  ];
  const token = await service.token(member.handle, { audience: 'mcp' });
  shown.push((await callToolRaw(service.url, token, 'get_thread', { thread_id })).text);
  for (const text of shown) expect(text).not.toMatch(/tsk_|task\.updated|task_note|input_required/);
  expect((await service.get(client, `/tasks/${task.id}`)).body.state).toBe('input_required');
});
