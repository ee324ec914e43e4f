const late = Symbol('late');

/**
 * @returns what `promise` resolves or rejects with; the result of `onTimeout` when that takes longer than `timeoutMs`. `promise` itself is
 * not cancelled: use `AbortSignal.timeout` for work that takes a signal.
 */
export async function withTimeout<Result, Late>(
  timeoutMs: number,
  promise: Promise<Result>,
  onTimeout: () => Late,
): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof late>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, late);
  });
  try {
    const result = await Promise.race([promise, timeout]);
    return result === late ? onTimeout() : result;
  } finally {
    clearTimeout(timer);
  }
}
