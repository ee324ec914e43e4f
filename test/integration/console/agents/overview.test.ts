import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { textContent } from 'domutils';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openFormBrowser, type PageResponse } from '../../../clients/form-browser.ts';
import { describeUnless } from '../../../support/vitest/describe-unless.ts';
import { missingPythonReason, pythonPackage } from '../../../support/python.ts';
import { startServiceOnFixedPort } from '../../../support/service-on-fixed-port.ts';
import {
  registerAgent,
  type TestAgent,
  type TestService,
  useSharedService,
} from '../../../support/service.ts';
import { createRoles, roleCases, startThread } from '../conversations/conversation-fixtures.ts';
import { signInPerson } from '../signed-in-person.ts';
import { use } from '../../../support/use.ts';

const pageOf = ({ id }: Pick<TestAgent, 'id'>) => `/console/agents/${id}`;
/** Beside the command that installs what it needs. */
const programOn = (page: PageResponse) =>
  page
    .elements('pre')
    .map((block) => textContent(block))
    .find((text) => !/^(?:npm|pip) install/.test(text)) ?? '';

const service = useSharedService();

const connectOf = (agent: Pick<TestAgent, 'id'>) => `${pageOf(agent)}/connect`;

test('shows the status and the latest conversations, and Connect asks for a credential', async () => {
  const ada = await signInPerson(service);
  const [mine, other] = [await ada.agent(), await service.agent()];
  const before = await ada.go(pageOf(mine));
  expect(before.visibleText).toMatch(/Overview.*StateActive.*None yet/);
  expect((await ada.go(connectOf(mine))).visibleText).toContain('This agent has no credential');
  const hostile = `<b>"'></pre><script>alert(1)</script>`;
  const id = await startThread(service, other, [mine], { subject: hostile, content: hostile });
  const page = await ada.go(pageOf(mine));
  expect(page.visibleText.split(hostile)).toHaveLength(3);
  expect(page.elements('b')).toEqual([]);
  const links = page.links;
  expect(links).toContain(`/console/conversations/${id}`);
  expect(links).toContain(`/console/conversations?agent=${mine.id}`);
});

test('shows the address of the A2A card, which needs a token for a private agent', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const path = `/a2a/${mine.handle.replace('.', '/')}/.well-known/agent-card.json`;
  const pageWith = async (visibility: string) => {
    await service.sql('update agents set visibility = $2 where id = $1', [mine.id, visibility]);
    const page = await ada.go(connectOf(mine));
    return [
      page.text.includes(`http://localhost:3000${path}`),
      page.visibleText.includes('card needs a token'),
    ];
  };
  expect(await pageWith('public')).toEqual([true, false]);
  expect((await fetch(`${service.url}${path}`)).status).toBe(200);
  expect(await pageWith('private')).toEqual([true, true]);
  expect((await fetch(`${service.url}${path}`)).status).toBe(404);
});

test.each(['nonsense', '%00', '<script>', 'node'])(
  'an unknown program %s shows the first one',
  async (name) => {
    const ada = await signInPerson(service);
    const page = await ada.go(`${connectOf(await ada.agent())}?client=${encodeURIComponent(name)}`);
    expect([page.status, programOn(page).split('\n')[0]]).toEqual([
      200,
      expect.stringContaining('createClient'),
    ]);
  },
);

describe('the overview', () => {
  const roles = use(() => createRoles(service));
  test.each(roleCases)('shows %s the conversations of a %s agent: %s', async (name, kind, isReadable) => {
    const page = await roles.people[name].go(pageOf(roles.agents[kind]));
    expect(page.text.includes(roles.threads[kind])).toBe(isReadable);
  });
});

describe('a program on the page runs as it is', () => {
  const fixed = use(startServiceOnFixedPort);

  /** The program for an agent with a credential, and its secret. */
  async function openProgram(client: string) {
    const register: TestService['register'] = (agent, options) => registerAgent(fixed.core, agent, options);
    const ada = await signInPerson({ ...fixed, register });
    const [mine, other] = [await ada.agent('first'), await ada.agent('second')];
    const address = `${pageOf(mine)}/credentials/new`;
    const made = await ada.fill(address, { fields: { name: 'A server' } });
    const [client_id = '', secret = ''] = made.elements('output').map((each) => textContent(each));
    const page = await ada.go(`${connectOf(mine)}?client=${client}`);
    expect(page.visibleText).not.toContain('This agent has no credential');
    const text = programOn(page);
    expect(text).not.toContain(secret);
    return { text, client_id, env: { ...process.env, AMS_CLIENT_SECRET: secret }, other };
  }

  /** Runs a program until `other` has the message that it sends and the program has printed it. */
  async function expectHello(
    command: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    other: TestAgent,
  ): Promise<void> {
    const child = spawn(command, args, { env });
    const closed = once(child, 'close');
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    await expect.poll(() => output).toContain('Hello');
    const { body } = await fixed.get(other, '/threads');
    expect(body.threads).toHaveLength(1);
    child.kill('SIGKILL');
    await closed;
  }

  test('curl', async () => {
    const { text, env, other } = await openProgram('curl');
    await expectHello('bash', ['-e', '-o', 'pipefail', '-c', text], env, other);
  });

  test('Node', async () => {
    const { text, env, other } = await openProgram('node');
    const source = resolve('packages/client/src/node/main.ts');
    const program = text.replace('@agent-messaging/client/node', source);
    await expectHello(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', program],
      env,
      other,
    );
  });

  test('Node, on the first page', async () => {
    const { client_id, env, other } = await openProgram('node');
    const start = await openFormBrowser(fixed.url).go('/');
    const program = programOn(start)
      .replace('@agent-messaging/client/node', resolve('packages/client/src/node/main.ts'))
      .replace('bob.reader', other.handle);
    expect(programOn(start).trim().split('\n').length).toBeLessThanOrEqual(10);
    const args = ['--import', 'tsx', '--input-type=module', '-e', program];
    const child = spawn(process.execPath, args, { env: { ...env, AMS_CLIENT_ID: client_id } });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const findThread = async () => {
      const { body } = await fixed.get(other, '/threads');
      return body.threads.find(({ last_sequence }: { last_sequence: number }) => last_sequence > 0)?.id;
    };
    await expect.poll(findThread).toMatch(/^thd_/);
    await fixed.post(other, `/threads/${await findThread()}/messages`, { content: 'Yes, I am.' });
    await expect.poll(() => output).toBe('Yes, I am.\n');
  });

  test('MCP client', async () => {
    const { text } = await openProgram('mcp');
    const { mcpServers } = JSON.parse(text);
    expect(mcpServers['agent-messaging']).toEqual({ type: 'http', url: `${fixed.url}/mcp` });
    expect((await fetch(mcpServers['agent-messaging'].url, { method: 'POST' })).status).toBe(401);
  });

  describeUnless(missingPythonReason, 'Python', () => {
    test('sends and prints', async () => {
      const { text, env, other } = await openProgram('python');
      const path = { ...env, PYTHONPATH: resolve(pythonPackage, 'src'), PYTHONDONTWRITEBYTECODE: '1' };
      await expectHello('python3', ['-u', '-c', text], path, other);
    });
  });
});
