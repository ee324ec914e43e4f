// Renders a chart with the template engine of Helm: text/template with the functions of sprig and those that Helm's documentation adds.
// Prints JSON: the values after all files, the objects, and the notes. Arguments: chart, release, namespace, files with values.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type object = map[string]interface{}

type files map[string][]byte

// Get returns the text of a file of the chart; empty when there is none.
func (f files) Get(name string) string { return string(f[name]) }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readYaml(path string) object {
	text, err := os.ReadFile(path)
	check(err)
	values := object{}
	check(yaml.UnmarshalStrict(text, &values))
	return values
}

// A null removes the default.
func override(defaults, own object) object {
	for key, value := range own {
		under, isObject := value.(object)
		below, hasObject := defaults[key].(object)
		if value == nil {
			delete(defaults, key)
		} else if isObject && hasObject {
			defaults[key] = override(below, under)
		} else {
			defaults[key] = value
		}
	}
	return defaults
}

func toYaml(value interface{}) string {
	text, err := yaml.Marshal(value)
	check(err)
	return strings.TrimSuffix(string(text), "\n")
}

func fromYaml(text string) object {
	values := object{}
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		values["Error"] = err.Error()
	}
	return values
}

func engine() *template.Template {
	root := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := root.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return value, errors.New(message)
		}
		return value, nil
	}
	functions["tpl"] = func(text string, data interface{}) (string, error) {
		var out bytes.Buffer
		parsed, err := template.Must(root.Clone()).New("tpl").Parse(text)
		if err == nil {
			err = parsed.Execute(&out, data)
		}
		return out.String(), err
	}
	functions["lookup"] = func(_, _, _, _ string) object { return object{} }
	functions["toYaml"] = toYaml
	functions["fromYaml"] = fromYaml
	return root.Funcs(functions)
}

func main() {
	chart, release, namespace := os.Args[1], os.Args[2], os.Args[3]
	about := readYaml(filepath.Join(chart, "Chart.yaml"))
	values := readYaml(filepath.Join(chart, "values.yaml"))
	for _, path := range os.Args[4:] {
		values = override(values, readYaml(path))
	}
	contents := files{}
	names, err := filepath.Glob(filepath.Join(chart, "files", "*"))
	check(err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		check(err)
		contents["files/"+filepath.Base(name)] = text
	}
	root := engine()
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	sort.Strings(paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(err)
		template.Must(root.New(filepath.Base(path)).Parse(string(text)))
	}
	data := object{
		"Values":  values,
		"Chart":   object{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release": object{"Name": release, "Namespace": namespace, "Service": "Helm", "Revision": 1, "IsInstall": true, "IsUpgrade": false},
		"Files":   contents,
	}
	result := object{"values": values, "objects": []object{}, "notes": ""}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var out bytes.Buffer
		check(root.ExecuteTemplate(&out, name, data))
		if name == "NOTES.txt" {
			result["notes"] = out.String()
			continue
		}
		for _, text := range regexp.MustCompile(`(?m)^---\s*$`).Split(out.String(), -1) {
			document := object{}
			if err := yaml.UnmarshalStrict([]byte(text), &document); err != nil {
				check(fmt.Errorf("%s: %w\n%s", name, err, text))
			}
			if len(document) > 0 {
				result["objects"] = append(result["objects"].([]object), document)
			}
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(result))
}
