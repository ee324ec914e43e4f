/** Allows so many frames in each second, counted from the first one of it. The answer says whether one more is within. */
export function createFrameBudget(perSecond: number): () => boolean {
  let since = 0;
  let count = 0;
  return () => {
    const now = Date.now();
    if (now - since >= 1_000) {
      since = now;
      count = 0;
    }
    count += 1;
    return count <= perSecond;
  };
}
