import type { Exception, Rule } from './rules.ts';

/** A text with a name: a file, or a part of a generated document. */
export interface Text {
  name: string;
  text: string;
}

export interface Finding {
  place: string;
  word: string;
  line: string;
  use: string;
}

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Matches a word in text, and as a part of a name in camelCase, PascalCase, snake_case or kebab-case. */
function wordPattern(words: readonly string[]): RegExp {
  const forms = words.flatMap((word) => {
    const capital = word[0]?.toUpperCase() + word.slice(1);
    return [
      `(?<![A-Za-z])${word}(?![a-z])`,
      `${capital}(?![a-z])`,
      `(?<![A-Za-z])${word.toUpperCase()}(?![A-Za-z])`,
    ];
  });
  return new RegExp(forms.join('|'), 'g');
}

function phrasePattern(phrases: readonly string[]): RegExp {
  const forms = phrases.map((phrase) =>
    phrase
      .split(' ')
      .map(escapePattern)
      .join(String.raw`[\s*/#>|]+`),
  );
  return new RegExp(String.raw`\b(?:${forms.join('|')})\b`, 'gi');
}

function compile({ words, phrases, pattern }: Rule): RegExp[] {
  return [words && wordPattern(words), phrases && phrasePattern(phrases), pattern].filter(
    (each) => each !== undefined,
  );
}

/** Everything in the texts that a rule excludes, by place. */
export function findViolations(texts: readonly Text[], rules: readonly Rule[]): Finding[] {
  const compiled = rules.map((rule) => ({ use: rule.use, patterns: compile(rule) }));
  return texts.flatMap(({ name, text }) => {
    const lines = text.split('\n');
    return compiled.flatMap(({ use, patterns }) =>
      patterns.flatMap((pattern) =>
        Array.from(text.matchAll(pattern), ({ 0: match, index }) => {
          const number = text.slice(0, index).split('\n').length;
          const word = match.replaceAll(/[\s*/#>|]+/g, ' ').trim();
          return { place: `${name}:${number}`, word, line: (lines[number - 1] ?? '').trim(), use };
        }),
      ),
    );
  });
}

export function isAllowed({ place, word, line }: Finding, exception: Exception): boolean {
  return (
    exception.word.toLowerCase() === word.toLowerCase() &&
    exception.place.test(place) &&
    (exception.line?.test(line) ?? true)
  );
}
