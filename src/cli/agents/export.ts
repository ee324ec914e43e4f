import { createHash } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { Core } from '../../compose.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import { presentExport } from '../../../packages/core/src/records/progress.ts';
import { findAnyAgentByHandle } from '../../services/agents/find-by-handle.ts';
import { beginExport, fetchExport } from '../../services/agents/exports.ts';
import { printing, reading } from '../actions.ts';
import { operator, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { resultCommand } from '../output.ts';
import { waitUntilDone } from './wait-until-done.ts';
import { requireWritable, writeNewFile } from './new-file.ts';
import { integerInRange } from '../option-values.ts';
import { warnIfRoleMissing } from '../maintenance/worker-roles.ts';

interface ExportOptions {
  output?: string;
  id?: string;
  wait: boolean;
}

function parseExportId(value: string): string {
  if (isId('export', value)) return value;
  throw new InvalidArgumentError('Must be the id of an export, exp_…');
}

/** `ams agent export …` */
export function exportCommand(io: CommandIo): Command {
  return resultCommand('export', 'export the data of an agent as an archive of JSON lines and its files')
    .argument('<handle>')
    .option('--output <file>', 'wait, and write the archive to this new file')
    .option('--id <export>', 'with --output: fetch this export instead of beginning one', parseExportId)
    .option('--no-wait', 'do not wait until the worker is done')
    .action(
      printing(io, async (handle: string, { output, id, wait }: ExportOptions) => {
        if (id !== undefined && output === undefined) throw new Error('--id requires --output');
        if (output !== undefined && !wait) throw new Error('--output cannot be combined with --no-wait');
        if (output !== undefined) await requireWritable(output);
        const result = await withCore(io, async (core) => {
          if (id !== undefined && output !== undefined) return saveExport(core, handle, id, output);
          const found = await requestExport(core, io, handle, wait);
          if (output === undefined || found.done_at === null) return found;
          return saveExport(core, handle, found.id, output);
        });
        return presentExport(result);
      }),
    );
}

/** `ams agent exports` */
export function exportsCommand(io: CommandIo): Command {
  return resultCommand('exports', 'list the current exports, newest first')
    .argument('[handle]', 'only exports of this agent')
    .option('--limit <n>', 'maximum number', integerInRange(1, 1_000), 50)
    .action(
      reading(
        io,
        async (work, handle: string | undefined, { limit }: { limit: number }) => {
          const agent = handle === undefined ? null : await findAnyAgentByHandle(work, handle);
          const rows = await work.db.agentExports.list(agent?.id ?? null, work.now, limit);
          return rows.map(presentExport);
        },
        'exports',
      ),
    );
}

/** Requests an export, and waits until it is done or the command is interrupted. */
async function requestExport(core: Core, io: CommandIo, handle: string, wait: boolean) {
  const interrupted = io.interruptSignal();
  const { unitOfWork, config, db } = core;
  const begun = await unitOfWork.write(operator(), async (work) => {
    const agent = await findAnyAgentByHandle(work, handle);
    return beginExport(work, agent, { account_id: null, days: config.EXPORT_RETENTION_DAYS });
  });
  await warnIfRoleMissing(core, 'maintenance', io);
  if (!wait) return begun;
  const now = await waitUntilDone(io, begun, interrupted, {
    reload: () => db.agentExports.find(begun.id),
    formatStatus: ({ stage, counts }) => `${stage}: ${counts['message'] ?? 0} messages`,
  });
  if (now.done_at === null) {
    const { handle: canonical, id } = now;
    io.log(
      `The export continues in the worker. Fetch it with: ams agent export ${canonical} --id ${id} --output FILE\n`,
    );
  }
  return now;
}

/** Writes the archive of a finished export to a new file, and verifies its digest. */
async function saveExport({ unitOfWork, blobs }: Core, handle: string, id: string, file: string) {
  const found = await unitOfWork.write(operator(), async (work) => {
    const agent = await findAnyAgentByHandle(work, handle);
    return fetchExport(work, agent, id);
  });
  const hash = createHash('sha256');
  async function* verified(bytes: AsyncIterable<Uint8Array>) {
    for await (const chunk of bytes) {
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== found.sha256)
      throw new Error('the archive is damaged: its SHA-256 differs from the recorded one');
  }
  const bytes = await blobs.read(found.archive_key);
  try {
    await writeNewFile(file, verified(bytes));
  } finally {
    bytes.destroy(); // if writing failed, the stream was not read to its end
  }
  return found;
}
