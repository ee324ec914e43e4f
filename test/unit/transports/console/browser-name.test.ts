import { expect, test } from 'vitest';
import { browserName } from '../../../../src/transports/console/pages/people/sessions.tsx';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0`,
    'Edge on Windows',
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Chrome/126.0.0.0 Safari/537.36`,
    'Chrome on macOS',
  ],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/126.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  ['Mozilla/5.0 (Linux; Android 14; Pixel 8) Gecko/128.0 Firefox/128.0', 'Firefox on Android'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Mobile/15E148 Safari/604.1',
    'Safari on iPhone',
  ],
  ['curl/8.5.0', 'Unknown browser'],
  ['', 'Unknown browser'],
])('%s is named %s', (user_agent, name) => {
  expect(browserName(user_agent)).toBe(name);
});
