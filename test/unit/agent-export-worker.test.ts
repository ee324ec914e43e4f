import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import type { Core } from '../../src/compose.ts';
import { JobPutBack } from '../../src/platform/queues/job-queues.ts';
import { agentExportHandler } from '../../workers/agent-export.ts';

/** An export whose archive would never end. */
const endless = { id: 'exp_1', agent_id: 'agt_1', stage: 'archive', part_keys: ['a'], created_at: 0 };

async function* bytes(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield randomBytes(65_536);
    await new Promise(setImmediate);
  }
}

test('a worker that stops abandons the archive and leaves the job to another worker', async () => {
  const stop = new AbortController();
  const write = vi.fn();
  let written = 0;
  const core = {
    db: { agentExports: { find: () => Promise.resolve(endless) } },
    unitOfWork: { write },
    blobs: {
      read: () => Promise.resolve(Readable.from(bytes())),
      async write(_key: string, source: AsyncIterable<Uint8Array>) {
        for await (const chunk of source) {
          written += chunk.byteLength;
          if (written > 1_000_000) stop.abort(new JobPutBack('this worker stops'));
        }
      },
    },
  };
  const handler = agentExportHandler(core as unknown as Core, stop.signal);
  await expect(handler.handle({ ids: [endless.id] })).rejects.toThrow(JobPutBack);
  expect(written).toBeGreaterThan(1_000_000);
  expect(write).not.toHaveBeenCalled();
});
