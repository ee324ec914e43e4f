const idPattern = /\b(agt|thd|msg|att|evt|creq|lse|whk|apr|tsk)_[0-9A-Z]{26}\b/g;
/** In a path. The words for the ends of a feed and those of the tests stay. */
const cursorPattern = /cursor=[\w%.-]{10,}/g;
const volatile = new Set([
  'cursor',
  'next_cursor',
  'request_id',
  'ticket',
  'access_token',
  'message_text',
  'secret',
]);
const volatileNumbers = new Set(['fencing_token', 'oldest_age', 'duration_ms', 'last_duration_ms']);
const times = /^(?:since|.+_at|.+_until)$/;

const timePattern = /\d{4}-\d{2}-\d{2}T[\d:.]+Z/g;

/**
 * Replaces what differs between two runs: ids by numbers in the order of their appearance, times, cursors and the owners of handles. The
 * texts of errors go, because only their codes and fields are the contract.
 */
export function createMask(owners: string): (value: unknown) => unknown {
  const names = new Map<string, string>();
  function nameOf(id: string): string {
    const prefix = id.slice(0, id.indexOf('_'));
    const count = [...names.keys()].filter((other) => other.startsWith(`${prefix}_`)).length;
    const name = names.get(id) ?? `${prefix}#${count + 1}`;
    names.set(id, name);
    return name;
  }
  function mask(value: unknown, key = ''): unknown {
    if (times.test(key) && typeof value === 'number') return '<time>';
    if (volatileNumbers.has(key) && typeof value === 'number') return `<${key}>`;
    if (volatile.has(key) && typeof value === 'string') return `<${key}>`;
    if (typeof value === 'string')
      return value
        .replaceAll(owners, '')
        .replaceAll(timePattern, '<time>')
        .replaceAll(cursorPattern, 'cursor=<cursor>')
        .replaceAll(idPattern, nameOf);
    if (Array.isArray(value)) return value.map((item) => mask(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name, child]) => child !== undefined && name !== 'scanned_by')
        .map(([name, child]) => [
          name,
          name === 'error' && child !== null
            ? maskError(child as Parameters<typeof maskError>[0], mask)
            : mask(child, name),
        ]),
    );
  }
  return (value) => mask(value);
}

/** Texts of handles and ids differ. */
function maskError(
  error: { code: string; message: string; request_id?: string; details?: object[] },
  text: (value: unknown) => unknown,
): object {
  const { code, request_id, ...said } = error;
  return { code, ...(text(said) as object), ...(request_id !== undefined && { request_id: '<request_id>' }) };
}
