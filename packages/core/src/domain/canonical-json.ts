/**
 * JSON in its canonical form (RFC 8785): without whitespace, with properties in the order of their UTF-16 code units. JSON.stringify
 * writes numbers and texts as the RFC wants them (sections 3.2.2.2 and 3.2.2.3). Properties that JSON cannot have are left out.
 */
export function toCanonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if ('toJSON' in value && typeof value.toJSON === 'function') return toCanonicalJson(value.toJSON());
  if (Array.isArray(value)) return `[${value.map((item) => toCanonicalJson(item)).join(',')}]`;
  const properties = Object.entries(value)
    .filter(([, child]) => child !== undefined && typeof child !== 'function')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, child]) => `${JSON.stringify(name)}:${toCanonicalJson(child)}`);
  return `{${properties.join(',')}}`;
}
