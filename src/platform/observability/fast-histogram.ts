import { Histogram, type Registry } from 'prom-client';

export interface FastHistogramOptions {
  name: string;
  help: string;
  /** The only label. It must have few values. */
  label: string;
  /** Upper bounds, ascending. */
  buckets: readonly number[];
  registers: Registry[];
}

interface Counts {
  /** One count for each bucket, not cumulative, and a last one for larger values. */
  bucketCounts: Float64Array;
  sum: number;
}

declare module 'prom-client' {
  // The type parameter has to have the name that prom-client gives it.
  interface Histogram<T extends string = string> {
    /** The values for the text of the metrics. Not documented: see docs/decisions/0017-library-internals.md. */
    getForPromString(): Promise<object>;
  }
}

/**
 * A histogram with one label for values that are recorded with every frame. prom-client sorts and hashes the labels at each observation,
 * which costs many times as much as the counting.
 */
export class FastHistogram extends Histogram {
  readonly #options: FastHistogramOptions;
  readonly #counts = new Map<string, Counts>();

  constructor(options: FastHistogramOptions) {
    super({ ...options, labelNames: [options.label], buckets: [...options.buckets] });
    this.#options = options;
  }

  /** Counts a value for this value of the label. */
  record(label: string, value: number): void {
    const { buckets } = this.#options;
    let counts = this.#counts.get(label);
    if (!counts) {
      counts = { bucketCounts: new Float64Array(buckets.length + 1), sum: 0 };
      this.#counts.set(label, counts);
    }
    let index = 0;
    while (index < buckets.length && value > (buckets[index] ?? 0)) index += 1;
    counts.bucketCounts[index] = (counts.bucketCounts[index] ?? 0) + 1;
    counts.sum += value;
  }

  override getForPromString(): Promise<object> {
    if (this.#counts.size === 0) return super.getForPromString();
    const { name, help } = this.#options;
    const values = [...this.#counts].flatMap(([label, counts]) => this.#series(label, counts));
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values });
  }

  #series(value: string, { bucketCounts, sum }: Counts): object[] {
    const { name, label, buckets } = this.#options;
    const labels = { [label]: value };
    let total = 0;
    const series = [...buckets, '+Inf'].map((le, index) => {
      total += bucketCounts[index] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
    });
    return [
      ...series,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  }
}
