import type { Command } from 'commander';
import type { Core } from '../../compose.ts';
import { ConfigError } from '../../config.ts';
import { describeError } from '../../shared/error-log.ts';
import { type Check, checks } from './checks.ts';
import { resultCommand, formatJson } from '../output.ts';
import { loadServiceConfig, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';

interface Finding {
  part: string;
  status: 'ok' | 'failed' | 'not_checked';
  detail: string;
  /** What to do if the check failed. */
  advice?: string;
}

/** Runs the checks. A failed check is a finding, not an error. A check that needs a failed part does not run, so each cause is named once. */
async function runChecks(io: CommandIo): Promise<Finding[]> {
  try {
    loadServiceConfig(io.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'correct the setting in the environment or in .env';
    return [{ part: 'settings', status: 'failed', detail: error.message, advice }];
  }
  const found = await withCore(io, async (core) => {
    const findings: Finding[] = [];
    for (const check of checks) {
      const { needs = [] } = check;
      const needed = typeof needs === 'function' ? needs(core.config) : needs;
      const missing = findings.find(({ part, status }) => needed.includes(part) && status !== 'ok');
      findings.push(
        missing
          ? { part: check.part, status: 'not_checked', detail: `needs ${missing.part}` }
          : await runCheck(check, core),
      );
    }
    return findings;
  });
  return [{ part: 'settings', status: 'ok', detail: 'complete' }, ...found];
}

async function runCheck({ part, run, advice }: Check, core: Core): Promise<Finding> {
  try {
    return { part, status: 'ok', detail: await run(core) };
  } catch (error) {
    // fetch() reports the reason only in `cause`.
    const reason = error instanceof TypeError && error.cause ? error.cause : error;
    return {
      part,
      status: 'failed',
      detail: firstLine(describeError(reason)),
      advice: typeof advice === 'string' ? advice : advice(core.config),
    };
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** `ams doctor` */
export function doctorCommand(io: CommandIo): Command {
  return resultCommand('doctor', 'check all parts of the service and print what to do').action(
    async (options: { json?: boolean }) => {
      const findings = await runChecks(io);
      const failed = findings.filter(({ status }) => status === 'failed');
      const ok = failed.length === 0;
      io.print(options.json ? formatJson({ ok, checks: findings }) : findings.map(formatFinding).join(''));
      if (!ok) throw new Error(`checks failed: ${failed.map(({ part }) => part).join(', ')}`);
    },
  );
}

const labels = { ok: 'ok', failed: 'FAIL', not_checked: 'not checked' } as const;

function formatFinding({ part, status, detail, advice }: Finding): string {
  const line = `${labels[status].padEnd(11)}  ${part.padEnd(10)}  ${detail}\n`;
  return advice ? `${line}${' '.repeat(25)}→ ${advice}\n` : line;
}
