let count = 0;

/** A name that no other test of this worker has: its files can share a service. */
export function uniqueName(stem: string): string {
  return `${stem}-${process.pid}-${(count += 1)}`;
}
