/** Prints figures on stdout, as one object or as text. Resolves when a pipe has taken all of it: an exit would cut the rest. */
export function printFigures(figures: object, asJson: boolean): Promise<unknown> {
  const text = asJson ? `${JSON.stringify(figures)}\n` : formatFigures(figures);
  return new Promise((resolve) => process.stdout.write(text, resolve));
}

/** Formats the figures of any measurement as text: a line for each value, and a table for each list of objects. */
export function formatFigures(figures: object, indent = ''): string {
  const lines: string[] = [];
  const entries = Object.entries(figures as Record<string, unknown>);
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) {
    if (isTable(value)) {
      lines.push(`${indent}${name}`, ...formatTable(value).map((line) => `${indent}  ${line}`));
    } else if (isObject(value) && Object.values(value).some((each) => isTable(each) || isObject(each))) {
      lines.push(`${indent}${name}`, formatFigures(value, `${indent}  `).trimEnd());
    } else {
      lines.push(`${indent}${name.padEnd(width)}  ${formatValue(value)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

type Row = Record<string, unknown>;

const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTable = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

/** A row can hold another table, which follows it. */
function formatTable(rows: readonly Row[]): string[] {
  const names = [...new Set(rows.flatMap(Object.keys))].filter(
    (name) => !rows.some((row) => isTable(row[name])),
  );
  const [head = '', ...lines] = alignColumns([
    names,
    ...rows.map((row) => names.map((name) => formatValue(row[name]))),
  ]);
  return [
    head,
    ...lines.flatMap((line, at) => [
      line,
      ...Object.values(rows[at] ?? {}).flatMap((value) =>
        isTable(value) ? formatTable(value).map((each) => `  ${each}`) : [],
      ),
    ]),
  ];
}

/** Percentiles and the parts of a CPU time are on one line. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  if (isObject(value))
    return (
      Object.entries(value)
        .map(([name, part]) => `${name} ${String(part)}`)
        .join(', ') || 'none'
    );
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Pads the cells of each column to the same width. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
