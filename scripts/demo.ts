import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { compose } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { type DemoAgents, runConversation, type Step } from './demo/conversation.ts';
import { startService } from './demo/start-service.ts';
import { createMembers, issueTokenFor } from './parts/population.ts';
import { runProgram } from './parts/run-program.ts';

const usage = `npm run demo: two agents and an MCP client exchange messages. Every step shows its result and how long it took.

Uses the service of DATABASE_URL or the one that npm start runs. Without either, starts its own service in a temporary
folder and removes it afterwards. Creates new agents each time. Exits with 0 only when every step succeeds.

  --help   this text
`;

const step: Step = async (name, run) => {
  const start = performance.now();
  try {
    const { value, seen, ms = performance.now() - start } = await run();
    process.stdout.write(`${`ok   ${`${ms.toFixed(1)} ms`.padStart(10)}  ${name}`.padEnd(64)}  ${seen}\n`);
    return value as Exclude<typeof value, undefined>;
  } catch (error) {
    process.stdout.write(`FAIL                  ${name}\n`);
    throw error;
  }
};

type Environment = Record<string, string | undefined>;

/** Creates three agents with new owners, and a token for each. */
async function createAgents(env: Environment): Promise<DemoAgents> {
  const core = compose({ ...loadConfig(env), LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: 2 }, 'demo');
  const run = randomBytes(4).toString('hex');
  try {
    const [ada, bob, mia] = await createMembers(core, `demo-${run}`, 3);
    if (!ada || !bob || !mia) throw new Error('three agents are needed');
    return { ada, bob, mia: { ...mia, token: await issueTokenFor(core, mia.handle, 'mcp') } };
  } finally {
    await core.close();
  }
}

async function runDemo(env: Environment): Promise<void> {
  const base = loadConfig(env).PUBLIC_URL;
  await step('The service is ready', async () => {
    const { ok, status } = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(5_000) });
    if (!ok) throw new Error(`${base}/readyz answered ${status}`);
    return { seen: base };
  });
  const agents = await step('Three agents and their tokens are created', async () => {
    const value = await createAgents(env);
    return {
      value,
      seen: Object.values(value)
        .map(({ handle }) => handle)
        .join(', '),
    };
  });
  await runConversation(base, agents, step);
}

await runProgram(async ({ signal, log }) => {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (!process.env['DATABASE_URL']) log('no service found: starting a temporary one');
  const own = process.env['DATABASE_URL'] ? null : await startService(log, signal);
  try {
    await Promise.race([runDemo(own?.env ?? process.env), once(signal, 'abort')]);
    signal.throwIfAborted();
  } finally {
    await own?.stop();
  }
  process.stdout.write('all steps succeeded\n');
  return 0;
});
