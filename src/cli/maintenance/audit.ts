import { type Command, Option } from 'commander';
import { type AuditAction, auditActions } from '../../../packages/core/src/domain/auth/audit.ts';
import { readAudit } from '../../services/audit.ts';
import { reading } from '../actions.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange, parseTime } from '../option-values.ts';
import { resultCommand } from '../output.ts';

interface AuditOptions {
  agent?: string;
  person?: string;
  act?: AuditAction;
  since?: number;
  limit: number;
}

/** `ams audit` */
export function auditCommand(io: CommandIo): Command {
  return resultCommand('audit', 'list the audit log, newest first')
    .option('--agent <handle>', 'only records by or about this agent')
    .option('--person <username>', 'only records by or about this person')
    .addOption(new Option('--act <act>', 'only this action').choices(auditActions))
    .option('--since <time>', 'only since this time', parseTime)
    .option('--limit <n>', 'maximum number', integerInRange(1, 10_000), 50)
    .action(
      reading(
        io,
        (work, { agent: handle, person: username, act, since, limit }: AuditOptions) =>
          readAudit(work, { handle, username, act, since, limit }),
        'acts',
      ),
    );
}
