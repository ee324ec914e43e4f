/** Waits for something, but no longer than `ms`. Rejects when that does in time. */
export async function waitAtMost(ms: number, wait: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([wait, limit]);
  } finally {
    clearTimeout(timer);
  }
}
