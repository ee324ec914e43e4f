import { setMaxListeners } from 'node:events';
import { cpus } from 'node:os';
import { oneLine } from '../../src/embedded/launcher-error.ts';
import { measureHistory } from './history/measure.ts';
import { historyTable } from './history/report.ts';
import { measure } from './measure.ts';
import { measureNodes, nodesTable } from './nodes.ts';
import { readOptions, usage } from './options.ts';
import { table } from './report.ts';
import { measureSoak } from './soak/measure.ts';
import { soakTable } from './soak/report.ts';
import { startStage } from './stage.ts';
import { fanOutTable, measureFanOut } from './streams/fan-out.ts';
import { measureReconnect, reconnectTable } from './streams/reconnect.ts';
import { settling } from './streams/resident.ts';
import { measureSockets, socketsTable } from './streams/sockets.ts';
import { measureTokens, tokensTable } from './tokens.ts';
import { measureTools, toolsTable } from './tools/measure.ts';
import { measureUploads, uploadsTable } from './uploads.ts';

async function main(): Promise<void> {
  const { part, json, help, sending, history, streams, soak, ...options } = readOptions();
  if (help) {
    process.stdout.write(usage);
    return;
  }
  const over = new AbortController();
  const fail = (reason: Error) => over.abort(reason);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => fail(new Error('interrupted')));
  }
  // Whoever reads may go away first, as head does: that ends the run in order, as any fault does, and nothing is left behind.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', fail);
  process.on('uncaughtException', fail);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const { signal } = over;
  setMaxListeners(0, signal); // every wait listens to it
  const api_arguments = part === 'sockets' ? settling : [];
  const stage = await startStage({ ...options, api_arguments, signal, fail });
  try {
    const { postgres_version, redis_server } = stage;
    say(`PostgreSQL ${postgres_version}, ${redis_server ?? 'no Redis'}, ${cpus().length} processors`);
    const print = (figures: object, text: string) =>
      process.stdout.write(json ? `${JSON.stringify(figures)}\n` : text);
    const startOther = () => startStage({ ...options, signal, fail });
    if (part === 'history') {
      const measured = await measureHistory(stage, {
        ...history,
        threads: 200,
        in_flight: 8,
        seconds: sending.seconds,
        startOther,
        say,
        signal,
        fail,
      });
      print(measured, historyTable(measured));
    } else if (part === 'tokens') {
      const measured = await measureTokens(stage, signal);
      print(measured, tokensTable(measured));
    } else if (part === 'mcp') {
      const measured = await measureTools(stage, { ...sending, in_flight: 32, say, signal, fail });
      print(measured, toolsTable(measured));
    } else if (part === 'uploads') {
      const measured = await measureUploads(stage, signal);
      print(measured, uploadsTable(measured));
    } else if (part === 'sockets') {
      const measured = await measureSockets(stage, { ...streams, say, signal, fail });
      print(measured, socketsTable(measured));
    } else if (part === 'reconnect') {
      const measured = await measureReconnect(stage, { ...streams, say, signal });
      print(measured, reconnectTable(measured));
    } else if (part === 'fan-out') {
      const measured = await measureFanOut(stage, { ...sending, ...streams, say, signal, fail });
      print(measured, fanOutTable(measured));
    } else if (part === 'nodes') {
      const nodes = { ...sending, in_flight: 32, startOther, say, signal, fail };
      const measured = await measureNodes(stage, nodes);
      print(measured, nodesTable(measured));
    } else if (part === 'soak') {
      const measured = await measureSoak(stage, { ...soak, threads: sending.threads, say, signal, fail });
      print(measured, soakTable(measured));
    } else {
      const { backend } = options;
      const measured = await measure(stage, { ...sending, backend, in_flight: 32, say, signal, fail });
      print(measured, table(measured));
    }
  } catch (error) {
    signal.throwIfAborted(); // what was first is the cause
    throw error;
  } finally {
    await stage.stop();
  }
}

process.exit(
  await main().then(
    () => 0,
    (error: unknown) => {
      process.stderr.write(`${oneLine(error)}\n`);
      return 1;
    },
  ),
);
