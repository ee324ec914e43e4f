import { Histogram, type Registry } from 'prom-client';

export interface FastHistogramOptions {
  name: string;
  help: string;
  /** The one label. Its values must be few. */
  label: string;
  /** Upper bounds, ascending. */
  buckets: readonly number[];
  registers: Registry[];
}

interface Counts {
  /** One for each bucket, not summed up, and a last one for what is above them all. */
  bucketCounts: Float64Array;
  sum: number;
}

/**
 * A histogram for what happens with every frame: prom-client looks its labels up anew at each observation, which costs many times
 * as much as the counting.
 */
export class FastHistogram extends Histogram {
  readonly #options: FastHistogramOptions;
  readonly #counts = new Map<string, Counts>();

  constructor(options: FastHistogramOptions) {
    super({ ...options, labelNames: [options.label], buckets: [...options.buckets] });
    this.#options = options;
  }

  /** Counts a value under this value of the label. */
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

  /** What the registry makes its text from; prom-client's own knows what `observe` has counted. */
  getForPromString(): Promise<object> {
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
