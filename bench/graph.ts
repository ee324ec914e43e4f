const panel = { width: 340, height: 110, gap: 30 };
const columns = 2;

/** A row of a table; its first number is the place on the x-axis. */
type Row = Record<string, unknown>;

/** Draws each column of numbers of a table as a line that begins at 0, as SVG. */
export function drawTable(rows: readonly Row[]): string {
  const flat = rows.map(flatten);
  const [x = '', ...names] = Object.keys(flat.at(-1) ?? {});
  const shown = names.filter((name) => flat.some((row) => row[name] !== flat[0]?.[name]));
  const width = columns * (panel.width + panel.gap) + panel.gap;
  const height = Math.ceil(shown.length / columns) * (panel.height + 2 * panel.gap) + panel.gap;
  const panels = shown.map((name, index) => {
    const left = panel.gap + (index % columns) * (panel.width + panel.gap);
    const top = 2 * panel.gap + Math.floor(index / columns) * (panel.height + 2 * panel.gap);
    return `<g transform="translate(${left} ${top})">${drawPanel(flat, x, name)}</g>`;
  });
  const style = 'font: 12px sans-serif';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" style="${style}">
<rect width="100%" height="100%" fill="#fff"/>
${panels.join('\n')}
</svg>
`;
}

function drawPanel(rows: readonly Record<string, number>[], x: string, name: string): string {
  const values = rows.map((row) => row[name] ?? 0);
  const top = Math.max(...values, 1);
  const [first, last] = [rows[0]?.[x] ?? 0, rows.at(-1)?.[x] ?? 1];
  const points = rows.map((row, at) => {
    const across = (((row[x] ?? 0) - first) / Math.max(1, last - first)) * panel.width;
    return `${across.toFixed(1)},${(panel.height * (1 - (values[at] ?? 0) / top)).toFixed(1)}`;
  });
  const label = `${name}: ${Math.min(...values)}–${top}, at the end ${values.at(-1) ?? ''} (${x} ${first}–${last})`;
  return `<text y="-8">${label}</text><path d="M0 0V${panel.height}H${panel.width}" fill="none" stroke="#999"/><polyline points="${points.join(' ')}" fill="none" stroke="#2563eb" stroke-width="1.5"/>`;
}

/** The numbers of a row; those of a nested object by its name and theirs. */
function flatten(row: Row): Record<string, number> {
  const entries = Object.entries(row).flatMap(([name, value]): [string, number][] => {
    if (typeof value === 'number') return [[name, value]];
    const isNested = typeof value === 'object' && value !== null;
    return isNested
      ? Object.entries(flatten(value as Row)).map(([key, each]) => [`${name} ${key}`, each])
      : [];
  });
  return Object.fromEntries(entries);
}
