import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { median } from '../load/percentiles.ts';
import { createMembers } from '../../scripts/parts/population.ts';
import { waitForQueues } from '../load/senders.ts';
import { readMemory } from '../load/processes.ts';
import { type Bench, startService } from '../start/service.ts';

const uploads = 20;
const bytesPerUpload = 10_000_000;
const rounds = 5;
const samplingIntervalMs = 5;

/**
 * Parallel uploads of 10 MB, compared with the same bytes written directly to the store by this process; MB/s are medians of the rounds,
 * the growth of the API's resident memory is that of the worst round. Linux only.
 */
export async function measureUploads(bench: Bench) {
  const { signal } = bench;
  const service = await startService(bench);
  const { core, base, pid } = service;
  const [member] = await createMembers(core, 'uploads', 1);
  const files = Array.from({ length: uploads }, () => randomBytes(bytesPerUpload));
  const send = async (file: Buffer<ArrayBuffer>) => {
    const body = new FormData();
    body.set('file', new Blob([file]), 'data.bin');
    const headers = { Authorization: `Bearer ${member?.token}`, 'Idempotency-Key': randomUUID() };
    const answer = await fetch(`${base}/v1/attachments`, { method: 'POST', headers, body, signal });
    const text = await answer.text();
    if (answer.status !== 201) throw new Error(`an upload got status ${answer.status}: ${text}`);
  };
  const write = async (file: Buffer) => {
    const key = randomBytes(16).toString('hex');
    await core.blobs.write(key, chunksOf(file));
    await core.blobs.remove(key);
  };
  /** MB/s of all files in parallel. */
  const runAll = async (run: (file: Buffer<ArrayBuffer>) => Promise<void>) => {
    const start = performance.now();
    await Promise.all(files.map(run));
    return Math.round((uploads * bytesPerUpload) / 1_000 / (performance.now() - start));
  };

  // The first upload loads code and grows the heap; that must not count.
  await send(files[0] ?? randomBytes(1));
  const rates = { api: [] as number[], store: [] as number[] };
  const grown: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // The files of the round before are scanned.
    await waitForQueues(service, signal);
    rates.store.push(await runAll(write));
    const readGrowth = watchMemory(pid);
    rates.api.push(await runAll(send));
    grown.push(readGrowth());
  }
  const [upload_mb_per_s, store_mb_per_s] = [median(rates.api), median(rates.store)];
  return {
    uploads,
    bytes_each: bytesPerUpload,
    grown_mib: Math.round(Math.max(...grown) / 1024 ** 2),
    upload_mb_per_s,
    store_mb_per_s,
    ratio: Math.round((upload_mb_per_s / store_mb_per_s) * 1_000) / 1_000,
    rounds,
  };
}

async function* chunksOf(file: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < file.length; start += 65_536) yield file.subarray(start, start + 65_536);
}

/** Samples the resident memory of a process; the returned function stops and returns the peak growth in bytes. */
function watchMemory(pid: number): () => number {
  const start = readMemory(pid, 'VmRSS');
  let highest = start;
  const sample = () => (highest = Math.max(highest, readMemory(pid, 'VmRSS')));
  const timer = setInterval(sample, samplingIntervalMs);
  return () => {
    clearInterval(timer);
    return sample() - start;
  };
}
