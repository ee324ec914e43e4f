/** How many of what. */
export type Counts = Readonly<Record<string, number>>;

/** These counts and more of them. */
export function addCounts(counts: Counts, more: Counts): Counts {
  const sum: Record<string, number> = { ...counts };
  for (const [name, rows] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + rows;
  return sum;
}
