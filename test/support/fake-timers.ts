import { onTestFinished, vi } from 'vitest';

/** How to stop what runs in this worker for several test files. */
const stops = new Set<() => Promise<unknown>>();

/** Has something stopped before a test fakes the timers. Called once. */
export function stopBeforeFakeTimers(stop: () => Promise<unknown>): void {
  stops.add(stop);
}

/**
 * Fakes the timers until the end of the test. Whatever runs in this worker is stopped first: its timers would use the fake clock, and
 * be lost at the end.
 */
export async function useFakeTimers(): Promise<void> {
  const stopping = [...stops].map((stop) => stop());
  stops.clear();
  await Promise.all(stopping);
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}
