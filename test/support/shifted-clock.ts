/** The environment of a Node process whose clock is ahead of the others by this much; less than zero: late. */
export function shiftedClock(milliseconds: number): { NODE_OPTIONS: string } {
  const program = `
    const { now } = Date;
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
