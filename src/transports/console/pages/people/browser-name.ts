/** Specific names first, because most user agents also contain the names of other browsers. */
const browsers: readonly [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/Chrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const systems: readonly [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A readable name for a User-Agent header, such as `Firefox on Linux`. For display only. */
export function browserName(user_agent: string): string {
  const findName = (table: typeof browsers) => table.find(([pattern]) => pattern.test(user_agent))?.[1];
  const browser = findName(browsers) ?? 'Unknown browser';
  const system = findName(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}
