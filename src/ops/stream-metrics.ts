import type { Metrics } from '../platform/observability/metrics.ts';

/** How soon streams get what is new. Clocks of two processes may differ a little: nothing takes less than no time. */
export function createStreamMetrics({ deliveryLatency, feedLag }: Metrics) {
  return {
    /** Times are milliseconds since the epoch. */
    onWritten(transport: string, events: readonly { created_at: number }[], rung: number): void {
      const now = Date.now();
      feedLag.record(transport, Math.max(0, now - rung) / 1_000);
      for (const { created_at } of events) {
        deliveryLatency.record(transport, Math.max(0, now - created_at) / 1_000);
      }
    },
  };
}

/** Codes that a WebSocket may close with (RFC 6455, section 7.4.1, and ours). Others are the free choice of the other side. */
const closeCodes = new Set([1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 4008]);

/** How WebSockets end. */
export function createWebSocketMetrics({ slowReaders, webSocketCloses }: Metrics) {
  return {
    onSlowReader: () => slowReaders.inc({ transport: 'ws' }),
    onClosed: (code: number) => webSocketCloses.inc({ code: closeCodes.has(code) ? String(code) : 'other' }),
  };
}
