import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeUnless } from '../support/vitest/describe-unless.ts';

const folder = join(import.meta.dirname, '../../deploy/prometheus');

/** The checker of Prometheus for rules and configuration. */
function promtool(...args: string[]) {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
  return { error, status, said: `${stdout}${stderr}` };
}

const missing = promtool('--version').error
  ? 'no promtool: on Debian, apt-get install prometheus'
  : undefined;

describeUnless(missing, 'the files for Prometheus', () => {
  test('are valid', () => {
    const rules = promtool('check', 'rules', 'alerts.yml');
    expect(rules.status, rules.said).toBe(0);
    const settings = promtool('check', 'config', '--syntax-only', 'prometheus.yml');
    expect(settings.status, settings.said).toBe(0);
  });

  test('contain rules that fire when they should, and only then', () => {
    const { status, said } = promtool('test', 'rules', 'alerts.test.yml');
    expect(status, said).toBe(0);
  });

  test('are all tested', () => {
    const read = (name: string) => parse(readFileSync(join(folder, name), 'utf8'));
    const rules: string[] = read('alerts.yml').groups.flatMap((group: { rules: { alert: string }[] }) =>
      group.rules.map(({ alert }) => alert),
    );
    const cases: { alertname: string; exp_alerts: object[] }[] = read('alerts.test.yml').tests.flatMap(
      (one: { alert_rule_test: object[] }) => one.alert_rule_test,
    );
    const firing = new Set(cases.filter((one) => one.exp_alerts.length > 0).map((one) => one.alertname));
    expect(rules.filter((alert) => !firing.has(alert))).toEqual([]);
  });
});
