import { type Command, Option } from 'commander';
import { type AuditAction, auditActions } from '../../domain/auth/audit.ts';
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
  return resultCommand('audit', 'who did what to trust and administration, newest first')
    .option('--agent <handle>', 'only what this agent did, or what was done to it')
    .option('--person <username>', 'only what this person did, or what was done to them')
    .addOption(new Option('--act <act>', 'only acts of this kind').choices(auditActions))
    .addOption(new Option('--since <time>', 'only since then').argParser(parseTime))
    .addOption(new Option('--limit <n>', 'at most so many').argParser(integerInRange(1, 10_000)).default(50))
    .action(async ({ agent: handle, person: username, json, ...only }: AuditOptions) => {
      const acts = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.readAsSystem((all) => readAudit(all, { handle, username, ...only })),
      );
      printResult(io, { ...(json && { json }) }, json ? { acts } : acts);
    });
}
