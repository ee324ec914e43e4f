import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Core } from '../compose.ts';
import { agentEverByHandle } from '../services/agent-by-handle.ts';
import { exportAgent, filesOfAgent } from '../services/agent-export.ts';
import { printResult, resultCommand } from './command.ts';
import { withCore } from './core.ts';
import type { CommandIo } from './io.ts';

const lines = 'agent.jsonl';

/** `ams agent export …` */
export function exportCommand(io: CommandIo): Command {
  return resultCommand(
    'export',
    'write all that is held of an agent into a new folder: JSON lines, and its files',
  )
    .argument('<handle>')
    .argument('<folder>')
    .action(async (handle: string, folder: string, options: { json?: boolean }) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty; name a new folder`);
      const report = await withCore(io, async (core) => {
        const agent = await core.unitOfWork.consult((all) => agentEverByHandle(all, handle));
        const files = await writeFiles(core, agent.id, join(folder, 'attachments'));
        return { ...(await writeLines(core, agent.id, folder)), files };
      });
      printResult(io, options, report);
    });
}

/** Under its name only when it is whole. */
async function writeLines({ repositories }: Core, agent_id: string, folder: string) {
  const counts: Record<string, number> = {};
  async function* text() {
    for await (const line of exportAgent(repositories, agent_id)) {
      counts[line.kind] = (counts[line.kind] ?? 0) + 1;
      yield `${JSON.stringify(line)}\n`;
    }
  }
  const draft = join(folder, `${lines}.part`);
  await pipeline(Readable.from(text()), createWriteStream(draft, { flags: 'wx', mode: 0o600 }));
  await rename(draft, join(folder, lines));
  return counts;
}

/** The bytes lie under the ids: names are what somebody wrote. */
async function writeFiles({ repositories, blobs }: Core, agent_id: string, folder: string): Promise<number> {
  await mkdir(folder, { mode: 0o700 });
  let files = 0;
  for await (const { id, storage_key } of filesOfAgent(repositories, agent_id)) {
    const bytes = await blobs.read(storage_key);
    await pipeline(bytes, createWriteStream(join(folder, id), { flags: 'wx', mode: 0o600 }));
    files += 1;
  }
  return files;
}
