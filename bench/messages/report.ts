import type { SendMeasurement } from './measure.ts';

/** Formats the figures as text. */
export function formatSendMeasurement(measured: SendMeasurement): string {
  const { delivery_ms, index_lag_ms: lag, cpu_ms_per_message: cpu } = measured;
  const rows: [string, string][] = [
    [`(a) SQL of a send alone, ${measured.in_flight} in flight`, `${measured.raw_tx_per_s} transactions/s`],
    [
      `(b) POST …/messages, ${measured.in_flight} in flight, ${measured.backend}`,
      `${measured.send_per_s} messages/s`,
    ],
    ['(b) ÷ (a)', measured.send_ratio.toFixed(3)],
    ['queue and outbox empty after', `${measured.drain_ms} ms`],
    [
      `(c) POST to the receiver’s socket at ${measured.steady_per_s}/s`,
      `p50 ${delivery_ms.p50} ms, p95 ${delivery_ms.p95} ms, p99 ${delivery_ms.p99} ms`,
    ],
    [
      '(b) from the sending to the search index',
      lag ? `p50 ${lag.p50} ms, p95 ${lag.p95} ms, p99 ${lag.p99} ms` : 'nothing was indexed',
    ],
    ['acknowledged, and frames at the sockets', `${measured.messages}, ${measured.frames}`],
    ['lost, duplicated', `${measured.lost}, ${measured.duplicated}`],
  ];
  if (cpu) {
    const parts = Object.entries(cpu).map(([part, ms]) => `${part} ${ms}`);
    rows.push(['CPU ms for each message of (b)', parts.join(', ')]);
  }
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}
