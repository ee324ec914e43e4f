import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The metrics that a text names, as families: a histogram includes its series. */
function findMetricNames(text: string): Set<string> {
  const names = text.match(/\b(?:ams|http|nodejs|process)_\w+/g) ?? [];
  return new Set(names.map((word) => word.replace(/_(?:bucket|count|sum)$/, '')));
}

interface Rules {
  groups: { rules: { alert: string; expr: string; for: string }[] }[];
}

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
}

/** The metrics that the Prometheus and Grafana files query, and those that the page for operators explains. */
export function listDocumentedMetrics() {
  const { groups } = parse(read('deploy/prometheus/alerts.yml')) as Rules;
  const rules = groups.flatMap((group) => group.rules);
  const { panels } = JSON.parse(read('deploy/grafana/dashboard.json')) as Dashboard;
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const operations = read('docs/operations.md');
  return {
    alerts: rules.map(({ alert }) => alert),
    usedInRules: findMetricNames(rules.map(({ expr }) => expr).join('\n')),
    usedOnDashboard: findMetricNames(queries.join('\n')),
    usedInDocs: findMetricNames(operations),
    /** The alerts of the page: the first column of its table. */
    explained: [...operations.matchAll(/^\| `([A-Z]\w+)` \|/gm)].map(([, alert = '']) => alert),
  };
}
