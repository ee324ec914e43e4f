import { parseArgs } from 'node:util';
import { loadConfig } from '../src/config.ts';
import { toOneLine } from '../src/embedded/launcher-error.ts';
import { runConversation } from './demo/conversation.ts';
import { createAgents } from './demo/create-agents.ts';
import { startService } from './demo/start-service.ts';
import { check, createSteps, StepFailure, type StepResult } from './demo/steps.ts';

const usage = `npm run demo: two agents and an MCP client exchange messages. Every step shows its result and how long it took.

Uses the service of DATABASE_URL or the one that npm start runs. Without either, starts its own service in a temporary
folder and removes it afterwards. Creates new agents each time. Exits with 0 only when every step succeeds.

  --json   one object on stdout instead of lines
  --help   this text
`;

/** Checks that the service responds at its public address. */
async function checkReady(base: string): Promise<void> {
  const response = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(5_000) });
  check(response.ok, `${base}/readyz answered ${response.status}`);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const results: StepResult[] = [];
  const steps = createSteps((result) => {
    results.push(result);
    if (!values.json) process.stdout.write(formatStep(result));
  });

  if (!process.env['DATABASE_URL']) log('no service found: starting a temporary one');
  const own = process.env['DATABASE_URL'] ? null : await startService(log, interrupted.signal);
  const env = own?.env ?? process.env;
  const base = loadConfig(env).PUBLIC_URL;
  const stopped = new Promise<never>((_, reject) => {
    interrupted.signal.addEventListener('abort', () => reject(new Error('interrupted')));
  });
  let ok = false;
  try {
    await Promise.race([runDemo(base, env, steps), stopped]);
    ok = true;
  } catch (error) {
    if (!(error instanceof StepFailure)) log(toOneLine(error));
  } finally {
    await own?.stop();
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ ok, service: base, steps: results })}\n`);
  else process.stdout.write(ok ? `all ${results.length} steps succeeded\n` : 'the demo failed\n');
  return ok ? 0 : 1;
}

async function runDemo(
  base: string,
  env: Record<string, string | undefined>,
  steps: ReturnType<typeof createSteps>,
) {
  await steps.step('The service is ready', 'status 200 from /readyz', async () => {
    await checkReady(base);
    return { value: undefined, seen: base };
  });
  const agents = await steps.step('Three agents and their tokens are created', 'three handles', async () => {
    const created = await createAgents(env);
    return {
      value: created,
      seen: Object.values(created)
        .map(({ handle }) => handle)
        .join(', '),
    };
  });
  await runConversation(base, agents, steps);
}

function formatStep({ step, ok, ms, seen, expected, failure }: StepResult): string {
  const line = `${ok ? 'ok  ' : 'FAIL'} ${`${ms.toFixed(1)} ms`.padStart(10)}  ${step}`;
  return ok
    ? `${line.padEnd(64)}  ${seen}\n`
    : `${line}\n       expected: ${expected}\n       failure:  ${failure}\n`;
}

// Connections that a failed step left open must not keep the process alive.
process.exit(
  await main().catch((error: unknown) => {
    process.stderr.write(`${toOneLine(error)}\n`);
    return 1;
  }),
);
