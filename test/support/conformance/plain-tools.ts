import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Tool } from '../../../src/transports/mcp/tools/tools.ts';
import { onePixelPng, silentWav } from './sample-media.ts';
import { allKeywordsSchema } from './schema-keywords.ts';
import { definePlainFixture, textContent } from './define-fixture.ts';

const image: ContentBlock = { type: 'image', data: onePixelPng, mimeType: 'image/png' };

/** The tools of the suite that only answer. */
export const plainTools: readonly Tool[] = [
  definePlainFixture({ name: 'test_simple_text', description: 'Answers a text.' }, () => [
    textContent('This is a simple text response for testing.'),
  ]),
  definePlainFixture({ name: 'test_image_content', description: 'Answers an image.' }, () => [image]),
  definePlainFixture({ name: 'test_audio_content', description: 'Answers a sound.' }, () => [
    { type: 'audio', data: silentWav, mimeType: 'audio/wav' },
  ]),
  definePlainFixture({ name: 'test_embedded_resource', description: 'Answers a resource.' }, () => [
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]),
  definePlainFixture(
    { name: 'test_multiple_content_types', description: 'Answers content of three types.' },
    () => [
      textContent('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  ),
  definePlainFixture({ name: 'test_error_handling', description: 'Fails.' }, () => {
    throw new DomainError('VALIDATION_ERROR', 'This tool intentionally returns an error for testing');
  }),
  definePlainFixture(
    {
      name: 'json_schema_2020_12_tool',
      description: 'Has arguments that need much of JSON Schema 2020-12 to be described.',
      schema: allKeywordsSchema,
    },
    () => [textContent('These arguments are good.')],
  ),
];

function embedded(uri: string, mimeType: string, words: string): ContentBlock {
  return { type: 'resource', resource: { uri, mimeType, text: words } };
}
