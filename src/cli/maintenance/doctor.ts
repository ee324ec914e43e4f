import type { Command } from 'commander';
import { ConfigError } from '../../config.ts';
import { describeError } from '../../shared/error-log.ts';
import { type Check, checks } from './checks.ts';
import { proxyBlock, proxyParts, publicChecks } from './public-check.ts';
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

/** Runs checks. A failed check is a finding, not an error. A check that needs a failed part does not run, so each cause is named once. */
async function runChecks<Target>(list: readonly Check<Target>[], target: Target): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of list) {
    const { needs = [] } = check;
    const needed = typeof needs === 'function' ? needs(target) : needs;
    const missing = findings.find(({ part, status }) => needed.includes(part) && status !== 'ok');
    findings.push(
      missing
        ? { part: check.part, status: 'not_checked', detail: `needs ${missing.part}` }
        : await runCheck(check, target),
    );
  }
  return findings;
}

/** Checks the settings, and with them the internal components. */
async function checkParts(io: CommandIo): Promise<Finding[]> {
  try {
    loadServiceConfig(io.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'correct the setting in the environment or in .env';
    return [{ part: 'settings', status: 'failed', detail: error.message, advice }];
  }
  const found = await withCore(io, (core) => runChecks(checks, core));
  return [{ part: 'settings', status: 'ok', detail: 'complete' }, ...found];
}

async function runCheck<Target>({ part, run, advice }: Check<Target>, target: Target): Promise<Finding> {
  try {
    return { part, status: 'ok', detail: await run(target) };
  } catch (error) {
    // fetch() reports the reason only in `cause`.
    const reason = error instanceof TypeError && error.cause ? error.cause : error;
    return {
      part,
      status: 'failed',
      detail: describeError(reason).split('\n', 1)[0] ?? '',
      advice: typeof advice === 'string' ? advice : advice(target, error),
    };
  }
}

/** `ams doctor` */
export function doctorCommand(io: CommandIo): Command {
  return resultCommand('doctor', 'check all parts of the service and print what to do')
    .option(
      '--public [url]',
      'check what the public sees at this address, PUBLIC_URL by default; print a configuration of nginx if something is missing',
    )
    .action(async ({ json, public: address }: { json?: boolean; public?: string | true }) => {
      const target = address && { url: parseAddress(io, address) };
      const findings = target ? await runChecks(publicChecks, target) : await checkParts(io);
      const failed = findings.filter(({ status }) => status === 'failed');
      const ok = failed.length === 0;
      io.print(json ? formatJson({ ok, checks: findings }) : findings.map(formatFinding).join(''));
      if (ok) return;
      if (target && !json && failed.some(({ part }) => proxyParts.has(part)))
        io.print(`\n${await proxyBlock(target)}`);
      throw new Error(`checks failed: ${failed.map(({ part }) => part).join(', ')}`);
    });
}

/** @throws {Error} unless it is the address of a service */
function parseAddress(io: CommandIo, address: string | true): string {
  if (address === true) return loadServiceConfig(io.env).PUBLIC_URL;
  if (/^https?:\/\/[^/?#@]+\/?$/.test(address) && URL.canParse(address)) return address.replace(/\/$/, '');
  throw new Error('--public: must be an address such as https://ams.example.com');
}

const labels = { ok: 'ok', failed: 'FAIL', not_checked: 'not checked' } as const;

function formatFinding({ part, status, detail, advice }: Finding): string {
  const line = `${labels[status].padEnd(11)}  ${part.padEnd(10)}  ${detail}\n`;
  return advice ? `${line}${' '.repeat(25)}→ ${advice}\n` : line;
}
