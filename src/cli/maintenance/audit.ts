import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { type Command, Option } from 'commander';
import { type AuditAction, auditActions } from '../../../packages/core/src/domain/auth/audit.ts';
import { readAudit } from '../../services/audit.ts';
import { printResult, resultCommand } from '../output.ts';
import { withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange, parseTime } from '../option-values.ts';

interface AuditOptions {
  agent?: string;
  person?: string;
  act?: AuditAction;
  since?: number;
  limit: number;
  json?: boolean;
}

/** `ams audit` */
export function auditCommand(io: CommandIo): Command {
  return resultCommand('audit', 'list the audit log, newest first')
    .option('--agent <handle>', 'only records by or about this agent')
    .option('--person <username>', 'only records by or about this person')
    .addOption(new Option('--act <act>', 'only this action').choices(auditActions))
    .addOption(new Option('--since <time>', 'only since this time').argParser(parseTime))
    .addOption(new Option('--limit <n>', 'maximum number').argParser(integerInRange(1, 10_000)).default(50))
    .action(async ({ agent: handle, person: username, json, ...filter }: AuditOptions) => {
      const acts = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, (work) => readAudit(work, { handle, username, ...filter })),
      );
      printResult(io, { ...(json && { json }) }, json ? { acts } : acts);
    });
}
