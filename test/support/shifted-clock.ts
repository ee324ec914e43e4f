/** The environment of a Node process whose clock is ahead of the others by this much from its start on; less than zero: late. */
export function shiftedClock(milliseconds: number): { NODE_OPTIONS: string } {
  const program = `
    const { now } = Date;
    Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + ${milliseconds} });
    globalThis.Date = class extends Date {
      constructor(...values) {
        if (values.length === 0) super(now() + ${milliseconds});
        else super(...values);
      }
      static now() {
        return now() + ${milliseconds};
      }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

/** The environment of a Node process whose clock is set forward by this much at SIGUSR2; less than zero: back. */
export function jumpingClock(milliseconds: number): { NODE_OPTIONS: string } {
  const program = `
    const { now } = Date;
    let aheadMs = 0;
    process.on('SIGUSR2', () => {
      aheadMs = ${milliseconds};
    });
    globalThis.Date = class extends Date {
      constructor(...values) {
        if (values.length === 0) super(now() + aheadMs);
        else super(...values);
      }
      static now() {
        return now() + aheadMs;
      }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}
