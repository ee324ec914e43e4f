export interface Progress {
  done: number;
  /** Counted at the start. */
  total: number;
  written: number;
  /** Since the start, in milliseconds. */
  elapsed_ms: number;
}

const numberFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Returns progress, rate and estimated remaining time as one line. */
export function formatProgress({ done, total, written, elapsed_ms }: Progress): string {
  const share = total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : 100;
  const rate = done / (Math.max(elapsed_ms, 1) / 1_000);
  const left = formatDuration(Math.max(0, total - done) / rate);
  const counts = `${numberFormat.format(done)} of ${numberFormat.format(total)} messages (${share} %)`;
  return `${counts}, ${numberFormat.format(written)} written, ${numberFormat.format(rate)} a second, about ${left} left`;
}

/** Formats seconds, for example 42 s, 3 min 5 s, 2 h 10 min. */
export function formatDuration(seconds: number): string {
  const rounded = Math.ceil(seconds);
  if (rounded < 60) return `${rounded} s`;
  const minutes = Math.floor(rounded / 60);
  if (minutes < 60) return `${minutes} min ${rounded % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
