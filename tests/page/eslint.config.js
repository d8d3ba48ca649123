import js from "@eslint/js";
import globals from "globals";

const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc", "write", "writeln"];
const markup = MARKUP.map((property) => ({ property, message: "data are text: set textContent" }));
const REQUESTS = ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "localStorage"];
const requests = REQUESTS.map((name) => ({ name, message: "the page speaks to its kernel alone" }));

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-restricted-properties": ["error", ...markup],
      "no-restricted-globals": ["error", ...requests],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-script-url": "error",
      "no-console": "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-shadow": "error",
      eqeqeq: "error",
      complexity: ["error", 10],
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", 40],
      "max-params": ["error", 5],
    },
  },
  { files: ["tests/**"], languageOptions: { globals: globals.node } },
  { files: ["tests/**/*.test.js"], rules: { "max-lines-per-function": "off" } },
];
