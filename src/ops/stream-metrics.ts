import type { Metrics } from '../platform/observability/metrics.ts';

/** The latency of streams. Clocks of two processes can differ, so negative times count as 0. */
export function createStreamMetrics({ deliveryLatency, feedLag }: Metrics) {
  return {
    /** Times are milliseconds since the epoch. */
    onWritten(transport: string, events: readonly { created_at: number }[], notifiedAt: number): void {
      const now = Date.now();
      feedLag.observe({ transport }, Math.max(0, now - notifiedAt) / 1_000);
      for (const { created_at } of events) {
        deliveryLatency.observe({ transport }, Math.max(0, now - created_at) / 1_000);
      }
    },
  };
}

/** Close codes with a metric of their own (RFC 6455, section 7.4.1, and 4008). Clients can choose any other code. */
const closeCodes = new Set([1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 4008]);

/** Counts how WebSockets end. */
export function createWebSocketMetrics({ slowReaders, webSocketCloses }: Metrics) {
  return {
    onSlowReader: () => slowReaders.inc({ transport: 'ws' }),
    onClosed: (code: number) => webSocketCloses.inc({ code: closeCodes.has(code) ? String(code) : 'other' }),
  };
}
