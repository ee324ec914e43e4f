import { expect } from 'vitest';

/** A sample in the Prometheus text format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface ScrapedMetrics {
  samples: Sample[];
  /** The names in the TYPE lines. */
  families: Set<string>;
  /** The value of the sample with this name and these labels; undefined when there is none. */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

/** Reads the metrics at an address. @throws on a line that is not of the format. */
export async function scrapeMetrics(
  ops: string,
  headers: Record<string, string> = {},
): Promise<ScrapedMetrics> {
  const answer = await fetch(`${ops}/metrics`, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return parseMetrics(await answer.text());
}

/** Parses the text of the metrics. @throws on a line that is not of the format. */
export function parseMetrics(text: string): ScrapedMetrics {
  const samples: Sample[] = [];
  const families = new Set<string>();
  for (const line of text.split('\n')) {
    const [, family] = /^# TYPE (\S+) (?:counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (family !== undefined) families.add(family);
    else if (line !== '' && !line.startsWith('# HELP ')) samples.push(parseSample(line));
  }
  return {
    samples,
    families,
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      );
      if (found.length > 1) throw new Error(`${found.length} samples of ${name} ${JSON.stringify(labels)}`);
      return found[0]?.value;
    },
  };
}

function parseSample(line: string): Sample {
  const [, name = '', inside = '', value = ''] =
    /^([a-z_][\w:]*)(?:\{(.*)\})? (NaN|[+-]?(?:Inf|\d[\d.e+-]*))$/i.exec(line) ?? [];
  if (name === '') throw new Error(`not of the text format: ${line}`);
  const labels = [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
    key,
    text,
  ]);
  return { name, labels: Object.fromEntries(labels) as Record<string, string>, value: Number(value) };
}
