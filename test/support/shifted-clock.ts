/** The environment of a Node process whose clock is ahead of the others by this much from its start on; less than zero: late. */
export const shiftedClock = (milliseconds: number) =>
  movedClock(`
    const aheadMs = ${milliseconds};
    Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + aheadMs });`);

/** The environment of a Node process whose clock is set forward by this much at SIGUSR2; less than zero: back. */
export const jumpingClock = (milliseconds: number) =>
  movedClock(`
    let aheadMs = 0;
    process.on('SIGUSR2', () => {
      aheadMs = ${milliseconds};
    });`);

/** @param ahead a program that defines `aheadMs` */
function movedClock(ahead: string): { NODE_OPTIONS: string } {
  const program = `
    const { now } = Date;${ahead}
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
