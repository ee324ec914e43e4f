import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { compose, type Core } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { createReader, issueTokenFor } from './population.ts';
import type { Environment } from './environment.ts';
import { readResidentBytes } from './streams/resident-memory.ts';

export interface UploadsMeasurement {
  uploads: number;
  bytes_each: number;
  /** Peak growth of the API's resident memory, in MiB, in the worst round. */
  grown_mib: number;
  /** MB/s, as the median of the rounds: through the API, and the same bytes written directly to the store by this process. */
  upload_mb_per_s: number;
  store_mb_per_s: number;
  ratio: number;
  rounds: number;
  store: 'S3' | 'folder';
}

const uploadCount = 20;
const bytesPerUpload = 10_000_000;
const rounds = 5;
const samplingIntervalMs = 5;

const boundary = 'bench-boundary';
const multipartHead = Buffer.from(
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="data.bin"\r\n\r\n`,
);
const multipartTail = Buffer.from(`\r\n--${boundary}--\r\n`);

/** Measures parallel uploads of 10 MB, compared with the same bytes written directly to the store; see docs/performance.md. Linux only. */
export async function measureUploads(
  environment: Environment,
  signal: AbortSignal,
): Promise<UploadsMeasurement> {
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  try {
    return await measureOn(core, environment, signal);
  } finally {
    await core.close();
  }
}

async function measureOn(
  core: Core,
  environment: Environment,
  signal: AbortSignal,
): Promise<UploadsMeasurement> {
  const { reader } = await createReader(core, 'uploads', 0);
  const token = await issueTokenFor(core, reader.handle);
  const files = Array.from({ length: uploadCount }, () => randomBytes(bytesPerUpload));
  const send = async (file: Buffer<ArrayBuffer>) => {
    const body = Buffer.concat([multipartHead, file, multipartTail]);
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Idempotency-Key': randomUUID(),
    };
    const answer = await fetch(`${environment.base}/v1/attachments`, {
      method: 'POST',
      headers,
      body,
      signal,
    });
    if (answer.status !== 201)
      throw new Error(`an upload got status ${answer.status}: ${await answer.text()}`);
    await answer.text();
  };
  const write = async (file: Buffer) => {
    const key = randomBytes(16).toString('hex');
    await core.blobs.write(key, chunksOf(file));
    await core.blobs.remove(key);
  };
  const all = (run: (file: Buffer<ArrayBuffer>) => Promise<void>) =>
    rate(() => Promise.all(files.map(run)).then(() => undefined));

  // The first upload loads code and grows the heap; that must not count.
  await send(files[0] ?? randomBytes(1));
  const rates = { api: [] as number[], store: [] as number[] };
  const grown: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    signal.throwIfAborted();
    rates.store.push(await all(write));
    const highest = watchMemory(environment.pids.api);
    rates.api.push(await all(send));
    grown.push(highest());
  }
  const upload_mb_per_s = median(rates.api);
  const store_mb_per_s = median(rates.store);
  return {
    uploads: uploadCount,
    bytes_each: bytesPerUpload,
    grown_mib: Math.round(Math.max(...grown) / 1024 ** 2),
    upload_mb_per_s,
    store_mb_per_s,
    ratio: Math.round((upload_mb_per_s / store_mb_per_s) * 1_000) / 1_000,
    rounds,
    store: core.config.S3_BUCKET === undefined ? 'folder' : 'S3',
  };
}

async function* chunksOf(file: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < file.length; start += 65_536) yield file.subarray(start, start + 65_536);
}

async function rate(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return Math.round((uploadCount * bytesPerUpload) / 1_000 / (performance.now() - start));
}

/** Samples the resident memory of a process; the returned function stops and returns the peak growth in bytes. */
function watchMemory(pid: number): () => number {
  const start = readResidentBytes(pid);
  let highest = start;
  const timer = setInterval(() => {
    highest = Math.max(highest, readResidentBytes(pid));
  }, samplingIntervalMs);
  return () => {
    clearInterval(timer);
    return Math.max(highest, readResidentBytes(pid)) - start;
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Formats the figures as text. */
export function formatUploads(measured: UploadsMeasurement): string {
  return [
    `${measured.uploads} uploads of ${measured.bytes_each / 1e6} MB in parallel, ${measured.store}  ${measured.upload_mb_per_s} MB/s`,
    `the same bytes directly to the store         ${measured.store_mb_per_s} MB/s`,
    `upload ÷ store                               ${measured.ratio}`,
    `memory of the API grows by at most           ${measured.grown_mib} MiB`,
    '',
  ].join('\n');
}
