import { Command, Option } from 'commander';
import type { Client, ClientEvent } from '../../main.ts';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import { parseUrl } from '../options.ts';
import { createClaudeCode } from '../wake/claude-code.ts';
import { createCodex } from '../wake/codex.ts';
import { createCommand } from '../wake/command.ts';
import { countWaiting, type Counts, describeCounts } from '../wake/counts.ts';
import type { Harness, HarnessOptions } from '../wake/harness.ts';
import { createOpencode } from '../wake/opencode.ts';
import { createWaker } from '../wake/waker.ts';

const harnesses = {
  'claude-code': createClaudeCode,
  opencode: createOpencode,
  codex: createCodex,
  command: createCommand,
} satisfies Record<string, (options: HarnessOptions) => Harness>;

interface Options extends Omit<HarnessOptions, 'env' | 'log'> {
  agentHarness: keyof typeof harnesses;
  gatherMs: number;
}

const maxGatherMs = 10_000;

const helpText = `
A wake says only how much is unread: "You have 3 unread messages in 2 threads. Read your inbox." There is one
wake at a time, and none without unread messages and requests. Messages that are unread after a turn cause one more wake.

Examples:
  $ am wake --agent-harness claude-code --session 550e8400-e29b-41d4-a716-446655440000
  $ am wake --agent-harness opencode --harness-url http://127.0.0.1:4096
  $ am wake --agent-harness command --exec 'notify-send "$AM_WAKE_TEXT"'`;

/** `am wake` */
export function wakeCommand(io: CommandIo): Command {
  const names = Object.keys(harnesses);
  return new Command('wake')
    .description('start a turn of your coding agent when messages arrive')
    .addOption(new Option('--agent-harness <name>', 'how to start it').choices(names).makeOptionMandatory())
    .option('--session <id>', 'the session to wake; default: the latest one')
    .option('--cwd <folder>', 'the folder in which the agent runs')
    .option('--harness-url <url>', 'the address of the opencode server', parseUrl)
    .option('--exec <command>', 'for the harness command: what to run')
    .option(
      '--gather-ms <milliseconds>',
      'how long to gather messages for one wake',
      integerInRange(500, maxGatherMs),
      500,
    )
    .addHelpText('after', helpText)
    .action(async ({ agentHarness, gatherMs, ...options }: Options, command: Command) => {
      const { client, output } = createContext(io, command);
      const log = (text: string) => io.log(`am wake: ${text}\n`);
      const harness = harnesses[agentHarness]({ ...options, env: io.env, log });
      const signal = io.interruptSignal();
      await wakeOnEvents(await client(), { harness, gatherMs, signal, log, report });

      function report(counts: Counts): void {
        const text = describeCounts(counts);
        output.show({ type: 'wake', harness: agentHarness, ...counts }, () => `wake: ${text}`);
      }
    });
}

interface WakeLoop {
  harness: Harness;
  gatherMs: number;
  signal: AbortSignal;
  log(text: string): void;
  report(counts: Counts): void;
}

async function wakeOnEvents(client: Client, { harness, gatherMs, signal, log, report }: WakeLoop) {
  const me = await client.agents.getMe();
  const waker = createWaker({
    gatherMs,
    maxGatherMs,
    count: () => countWaiting(client, signal),
    async wake(counts) {
      report(counts);
      await harness.wake({ counts, text: describeCounts(counts), signal });
    },
    onError(error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      log(`${reason}. The messages are stored; they will be seen at the next turn`);
    },
  });
  let hasStarted = false;
  const onState = ({ status }: { status: string }) => {
    // What arrived before the start. Later connections continue at their position.
    if (status === 'open' && !hasStarted) waker.notify();
    hasStarted ||= status === 'open';
  };
  for await (const event of client.events({ start: 'latest', signal, onState })) {
    if (event.type === 'gap') event.accept();
    if (isMail(event, me.id)) waker.notify();
  }
  await waker.stop();
}

function isMail(event: ClientEvent, myId: string): boolean {
  if (event.type === 'message.created') return event.data.sender.id !== myId;
  return event.type === 'contact.request' || event.type === 'gap';
}
